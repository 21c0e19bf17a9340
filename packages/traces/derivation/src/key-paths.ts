import { invariant } from '@vitrine/faults/invariant';

/** Paths at which a `JsonScanner` picks values: one key, or two joined by a dot. No path is a prefix of another. */
export class KeyPaths {
  readonly wanted: ReadonlySet<string>;
  /** The first keys of paths of two. */
  readonly parents: ReadonlySet<string>;
  /** The maximum length of a wanted key with every character escaped. */
  readonly maxKeyBytes: number;

  constructor(paths: readonly string[]) {
    const keys = paths.map((path) => path.split('.'));
    this.wanted = new Set(paths);
    this.parents = new Set(keys.flatMap(([first = '', second]) => (second === undefined ? [] : [first])));
    this.maxKeyBytes = 6 * Math.max(0, ...keys.flat().map((key) => key.length));
    invariant(!paths.some((path) => this.parents.has(path)), 'no path leads to another');
  }
}

/** The key written from `from` to `to`, with or without escapes; undefined for a key in no path. */
export function keyIn(bytes: Uint8Array, from: number, to: number): string | undefined {
  const text = textOf(bytes, from, to);
  const key = text.includes('\\') ? parsed(`"${text}"`) : text;
  return typeof key !== 'string' || key.includes('.') ? undefined : key;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function textOf(bytes: Uint8Array, from: number, to: number): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('utf8', from, to);
}
