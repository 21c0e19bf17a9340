import type { TokenHash } from '@vitrine/credentials/token-hashes';
import { PERMISSIONS, type Permission } from './permission.ts';

// Without zod, because the thread of the embedded store does not load it.

/** A replaced token, and until when it is still accepted (milliseconds since the epoch). */
interface PreviousToken extends TokenHash {
  readonly until: number;
}

/** A gateway key as it is stored: the API's fields under the same names, times as milliseconds since the epoch, and the keyed hash of the
 *  token instead of the token. */
export interface KeyRow extends TokenHash {
  readonly id: string;
  readonly org_id: string;
  readonly workspace_id: string;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly created_by: string | undefined;
  readonly role: string;
  readonly permissions: readonly Permission[];
  readonly plan: string | undefined;
  readonly created_at: number;
  readonly last_used_at: number | undefined;
  readonly managed_by: string | undefined;
  /** The resource that owns the row, such as `GatewayKey team-a/ci`. */
  readonly managed_resource: string | undefined;
  /** The next token of a key in rotation. It is accepted before it is published. */
  readonly next?: TokenHash | undefined;
  /** The token before the last rotation. It is accepted for a while, because programs receive the new one with a delay. */
  readonly previous?: PreviousToken | undefined;
  /** Higher than that of every earlier change of this key; unique in the store. */
  readonly revision: number;
}

type KeyColumn = Exclude<keyof KeyRow, 'next' | 'previous'>;
export type NewKeyColumn = Exclude<KeyColumn, 'last_used_at'>;

const textIn = (value: unknown) => (typeof value === 'string' ? value : '');
const optionalTextIn = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** The columns of a key in both stores, under the names of `KeyRow`, and how each is read. A field without a column does not compile. */
const COLUMNS: { readonly [Column in KeyColumn]: (value: unknown) => KeyRow[Column] } = {
  id: textIn,
  org_id: textIn,
  workspace_id: textIn,
  name: optionalTextIn,
  description: optionalTextIn,
  created_by: optionalTextIn,
  role: textIn,
  permissions: permissionsIn,
  plan: optionalTextIn,
  created_at: Number,
  last_used_at: (value) => (value == null ? undefined : Number(value)),
  managed_by: optionalTextIn,
  managed_resource: optionalTextIn,
  pepper_version: Number,
  token_mac: (value) => new Uint8Array(value as Uint8Array),
  revision: Number,
};

/** What a new key fills. */
export const NEW_KEY_COLUMNS = (Object.keys(COLUMNS) as KeyColumn[]).filter((column) => column !== 'last_used_at');

/** A key as its row has it, without the tokens of a rotation. */
export type StoredKey = { readonly [Column in KeyColumn]: KeyRow[Column] };

export function storedKeyOf(row: Readonly<Record<string, unknown>>): StoredKey {
  return Object.fromEntries(Object.entries(COLUMNS).map(([column, read]) => [column, read(row[column])])) as StoredKey;
}

/** Postgres has an array and SQLite a text. A later version may store permissions that are unknown here. */
function permissionsIn(value: unknown): Permission[] {
  const granted: readonly unknown[] = Array.isArray(value) ? value : textIn(value).split(' ');
  return PERMISSIONS.filter((permission) => granted.includes(permission));
}
