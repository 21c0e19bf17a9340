import { OTHER } from './bounded-names.ts';
import type { MetricAttributes } from './instrument.ts';

type Key = string | number | boolean | undefined;
type Tuple = readonly Key[];

/** A map whose keys are several values, as nested maps: joining and hashing what a request is counted by took 1 µs a lookup. No key
 *  is the beginning of another. */
class TupleMap<Value> {
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

interface SeriesTableOptions<Series> {
  /** Maximum number of attribute sets with their own series. */
  readonly capacity: number;
  /** Attributes that become `other` in further sets. */
  readonly collapsible: readonly string[];
  /** Creates the series of a set, once. */
  readonly make: (attributes: MetricAttributes) => Series;
}

/** The attribute sets that a service has recorded, at most `capacity` of them. The attributes of a set are created once, because creating and
 *  hashing them for every request cost more than everything else recorded. */
export class SeriesTable<Series> {
  /** How often a set became `other` because the table was full. */
  collapsed = 0;
  readonly #options: SeriesTableOptions<Series>;
  /** By attributes as recorded. */
  readonly #bySet = new Map<string, Series>();
  /** By the values that callers pass, before they are trimmed and scrubbed. */
  readonly #byKey = new TupleMap<Series>();

  constructor(options: SeriesTableOptions<Series>) {
    this.#options = options;
  }

  /** `key`: all values from which the attributes are created. */
  get(key: Tuple): Series | undefined {
    return this.#byKey.get(key);
  }

  /** The series of `attributes`. From now on `get` finds it by `key`. */
  add(key: Tuple, attributes: MetricAttributes): Series {
    const series = this.#bySet.get(setKeyOf(attributes)) ?? this.#addSet(attributes);
    if (this.#byKey.size < this.#options.capacity) this.#byKey.add(key, series);
    return series;
  }

  series(): Iterable<Series> {
    return this.#bySet.values();
  }

  #addSet(attributes: MetricAttributes): Series {
    const { capacity, collapsible, make } = this.#options;
    const isFull = this.#bySet.size >= capacity;
    if (isFull) this.collapsed += 1;
    const others = Object.fromEntries(collapsible.map((name) => [name, OTHER]));
    const kept = isFull ? { ...attributes, ...others } : attributes;
    const key = setKeyOf(kept);
    const existing = this.#bySet.get(key);
    if (existing !== undefined) return existing;
    const series = make(kept);
    this.#bySet.set(key, series);
    return series;
  }
}

function setKeyOf(attributes: MetricAttributes): string {
  return Object.values(attributes).join('\n');
}
