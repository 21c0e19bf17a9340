import type { Scope } from '../resources/enumerations.ts';

const READ_ONLY: readonly Scope[] = ['read:stores', 'read:signals'];
const READ_AND_WATCH: readonly Scope[] = [...READ_ONLY, 'read:watchlists', 'write:watchlists'];

/** Scopes by preset. Spec: S5.6. */
export const KEY_PRESETS = {
  read_only: READ_ONLY,
  read_and_watch: READ_AND_WATCH,
  full: [...READ_AND_WATCH, 'write:scans', 'read:webhooks', 'write:webhooks', 'read:jobs'],
  partner: ['read:stores', 'write:scans'],
} as const satisfies Readonly<Record<string, readonly Scope[]>>;
export type KeyPreset = keyof typeof KEY_PRESETS;
