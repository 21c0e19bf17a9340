import { invariant } from '@vitrine/faults/invariant';
import { ASCII } from './character-codes.ts';

const { BACKSLASH } = ASCII;

export interface WantedKey {
  readonly key: string;
  readonly bytes: Uint8Array;
  /** Where its value goes; -1 for a key that only leads to others. */
  readonly slot: number;
  readonly inner: readonly WantedKey[];
}

export interface KeyPaths {
  readonly roots: readonly WantedKey[];
  readonly slots: ReadonlyMap<string, number>;
  /** The longest a wanted key can be written, every character of it escaped. */
  readonly maxKeyBytes: number;
  readonly noTexts: readonly undefined[];
}

/** By the identity of the array that they were made of: callers pass constants, and scanners are made per exchange. */
const known = new WeakMap<readonly string[], KeyPaths>();

/** Prepares paths of one key or two joined by a dot, of which none leads to another. */
export function keyPathsOf(paths: readonly string[]): KeyPaths {
  const prepared = known.get(paths) ?? prepare(paths);
  known.set(paths, prepared);
  return prepared;
}

function prepare(paths: readonly string[]): KeyPaths {
  const slots = new Map(paths.map((path, slot) => [path, slot]));
  const firsts = new Set(paths.map((path) => path.split('.')[0] ?? ''));
  const roots = Array.from(firsts, (first) => {
    const inner = paths.filter((path) => path.startsWith(`${first}.`));
    const seconds = inner.map((path) => wantedKey(path.slice(first.length + 1), slots.get(path), []));
    return wantedKey(first, slots.get(first), seconds);
  });
  invariant(
    roots.every((root) => root.slot < 0 || root.inner.length === 0),
    'no path leads to another',
  );
  const longest = Math.max(0, ...roots.flatMap((root) => [root, ...root.inner]).map((one) => one.bytes.length));
  return { roots, slots, maxKeyBytes: longest * 6, noTexts: paths.map(() => undefined) };
}

function wantedKey(key: string, slot: number | undefined, inner: readonly WantedKey[]): WantedKey {
  return { key, bytes: Buffer.from(key), slot: slot ?? -1, inner };
}

/** The key that is written from `from` to `to`, with or without escapes. */
export function keyAmong(wanted: readonly WantedKey[], bytes: Uint8Array, from: number, to: number): WantedKey | undefined {
  for (const one of wanted) if (isSame(one.bytes, bytes, from, to)) return one;
  for (let at = from; at < to; at++) {
    if (bytes[at] !== BACKSLASH) continue;
    const key = parsed(`"${textOf(bytes, from, to)}"`);
    return wanted.find((one) => one.key === key);
  }
  return undefined;
}

function isSame(key: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== key.length) return false;
  for (let at = 0; at < key.length; at++) if (key[at] !== bytes[from + at]) return false;
  return true;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function textOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString();
}
