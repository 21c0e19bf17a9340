import { OTHER } from './bounded-names.ts';
import type { MetricAttributes } from './instrument.ts';

type SeriesKey = readonly (string | number | undefined)[];

interface SeriesTableOptions<Series> {
  /** Attribute sets that get series of their own. */
  readonly capacity: number;
  /** Attributes that become `other` in any further set. */
  readonly collapsible: readonly string[];
  /** Makes the series of a set, once. */
  readonly make: (attributes: MetricAttributes) => Series;
}

/** The attribute sets that a service has recorded, at most `capacity` of them. The attributes of a set are trimmed and scrubbed once. */
export class SeriesTable<Series> {
  /** How often a set became `other` because the table was full. */
  collapsed = 0;
  readonly #options: SeriesTableOptions<Series>;
  /** By recorded attributes. */
  readonly #bySet = new Map<string, Series>();
  /** By the values that callers pass, before they are trimmed and scrubbed. */
  readonly #byKey = new Map<string, Series>();

  constructor(options: SeriesTableOptions<Series>) {
    this.#options = options;
  }

  /** `key`: all values that the attributes are made of. */
  get(key: SeriesKey): Series | undefined {
    return this.#byKey.get(JSON.stringify(key));
  }

  /** The series of `attributes`, which `get` finds by `key` from now on. */
  add(key: SeriesKey, attributes: MetricAttributes): Series {
    const series = this.#bySet.get(setKeyOf(attributes)) ?? this.#addSet(attributes);
    if (this.#byKey.size < this.#options.capacity) this.#byKey.set(JSON.stringify(key), series);
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
