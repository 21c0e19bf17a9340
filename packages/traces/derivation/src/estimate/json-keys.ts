/** Keys that decide how strings are read. Each has a number from 1 on. */
export class JsonKeys {
  readonly #byLength: { readonly bytes: Uint8Array; readonly key: number }[][] = [];

  constructor(names: readonly string[]) {
    for (const [at, name] of names.entries())
      (this.#byLength[name.length] ??= []).push({ bytes: Buffer.from(name), key: at + 1 });
  }

  get maxBytes(): number {
    return this.#byLength.length - 1;
  }

  /** The number of the key written from `from` to `to`; 0 for any other, and for one with escapes. */
  find(chunk: Uint8Array, from: number, to: number): number {
    for (const { bytes, key } of this.#byLength[to - from] ?? []) {
      let at = 0;
      while (at < bytes.length && bytes[at] === chunk[from + at]) at++;
      if (at === bytes.length) return key;
    }
    return 0;
  }
}

/** The numbers of `names` in `new JsonKeys(names)`. */
export function keyNumbers<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, at) => [name, at + 1])) as Record<Name, number>;
}
