/** Reads what the fields of one request ask for by key in batches: keys that are asked for in the same turn of the event loop are one read, and no
 *  key is read twice. */
export class BatchLoader<Value> {
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  readonly #known = new Map<string, Promise<Value | undefined>>();
  #batch: { readonly keys: string[]; readonly values: Promise<ReadonlyMap<string, Value>> } | undefined;

  constructor(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    this.#read = read;
  }

  load(key: string): Promise<Value | undefined> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#batch ??= this.#begin();
    this.#batch.keys.push(key);
    const value = this.#batch.values.then((values) => values.get(key));
    this.#known.set(key, value);
    return value;
  }

  #begin() {
    const keys: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    setImmediate(resolve);
    const values = promise.then(() => {
      this.#batch = undefined;
      return this.#read(keys);
    });
    return { keys, values };
  }
}
