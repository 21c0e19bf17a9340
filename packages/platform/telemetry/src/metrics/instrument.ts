/** Names and values of a series. */
export type MetricAttributes = Readonly<Record<string, string | number>>;

/** A metric as a service declares it. */
export interface Instrument {
  /** Such as `orders.shipped_total`, which is `orders_shipped_total` in the scrape. */
  readonly name: string;
  readonly kind: 'counter' | 'histogram' | 'gauge';
  /** UCUM: `s`, `By`, `{order}`. */
  readonly unit: string;
  readonly description: string;
  readonly attributes: readonly string[];
}

export interface CounterInstrument extends Instrument {
  readonly kind: 'counter';
  /** The series that exist at 0 from the start, because a rate misses the first increase of a series that begins above 0. */
  readonly initial: readonly MetricAttributes[];
}

export interface HistogramInstrument extends Instrument {
  readonly kind: 'histogram';
  /** Upper bounds of the buckets, in its unit, ascending. */
  readonly buckets: readonly number[];
}

export interface GaugeInstrument extends Instrument {
  readonly kind: 'gauge';
}

/** `initial`: the initial series of a counter with attributes. A counter without attributes is 0 from the start. */
export function counter(
  name: string,
  unit: string,
  description: string,
  attributes: readonly string[] = [],
  initial: readonly MetricAttributes[] = attributes.length === 0 ? [{}] : [],
): CounterInstrument {
  return { kind: 'counter', name, unit, description, attributes, initial };
}

export function histogram(
  name: string,
  unit: string,
  description: string,
  buckets: readonly number[],
  attributes: readonly string[] = [],
): HistogramInstrument {
  return { kind: 'histogram', name, unit, description, attributes, buckets };
}

export function gauge(name: string, unit: string, description: string, attributes: readonly string[] = []): GaugeInstrument {
  return { kind: 'gauge', name, unit, description, attributes };
}
