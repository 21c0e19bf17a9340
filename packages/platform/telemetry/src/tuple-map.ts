type Key = string | number | boolean | undefined;
export type Tuple = readonly Key[];

/**
 * A map with tuple keys, as nested maps, because joining and hashing the labels of a request took 1 µs per lookup. No key may be a
 * prefix of another.
 */
export class TupleMap<Value> {
  size = 0;
  readonly #root = new Map<Key, unknown>();

  get(key: Tuple): Value | undefined {
    let found: unknown = this.#root;
    for (let at = 0; at < key.length && found !== undefined; at += 1) found = (found as Map<Key, unknown>).get(key[at]);
    return found as Value | undefined;
  }

  /** Adds a key that is not there yet. */
  add(key: Tuple, value: Value): void {
    let map = this.#root;
    for (const part of key.slice(0, -1)) {
      const next = (map.get(part) as Map<Key, unknown> | undefined) ?? new Map<Key, unknown>();
      map.set(part, next);
      map = next;
    }
    map.set(key.at(-1), value);
    this.size += 1;
  }
}
