import type { BatchObservableResult, Counter, Histogram, Meter } from '@opentelemetry/api';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import type { CounterInstrument, GaugeInstrument, HistogramInstrument, MetricAttributes } from './instrument.ts';

type Recorded = CounterInstrument | HistogramInstrument;
type Observed = CounterInstrument | GaugeInstrument;
/** Functions that record the declared instruments. */
export type Recorders<D extends Readonly<Record<string, Recorded>>> = {
  readonly [Name in keyof D]: D[Name] extends CounterInstrument ? Counter : Histogram;
};

/** The current value of an instrument without attributes, or of each of its series. */
export type Reading = number | readonly (readonly [attributes: MetricAttributes, value: number])[];

/**
 * Declares the instruments of a service. The SDK sorts and hashes the attributes of every addition, which takes 0.7 µs, so use a source
 * for metrics of every request.
 */
export class ServiceMetrics {
  /** Reads metrics outside the SDK, such as `SeriesTable`s of `DurationSeries`. `now`: milliseconds since the epoch. */
  readonly addSource: (read: (now: number) => readonly MetricData[]) => void;
  readonly #meter: Meter;

  constructor(meter: Meter, addSource: ServiceMetrics['addSource']) {
    this.#meter = meter;
    this.addSource = addSource;
  }

  /** Counters and histograms by their declared names. The `initial` series of a counter are 0 from now on. */
  declare<D extends Readonly<Record<string, Recorded>>>(instruments: D): Recorders<D> {
    const recorders = Object.entries(instruments).map(([name, instrument]) => [name, this.#recorder(instrument)] as const);
    return Object.fromEntries(recorders) as Recorders<D>;
  }

  /** Counters and gauges with external values; `read` is called whenever metrics are collected. */
  observe<D extends Readonly<Record<string, Observed>>>(
    instruments: D,
    read: () => { readonly [Name in keyof D]: Reading },
  ): void {
    const observed = Object.entries(instruments).map(([key, { name, kind, unit, description }]) => {
      const create = kind === 'counter' ? 'createObservableCounter' : 'createObservableGauge';
      return { key, instrument: this.#meter[create](name, { unit, description }) };
    });
    const observe = (result: BatchObservableResult) => {
      const readings = read();
      for (const { key, instrument } of observed) {
        const reading = readings[key] ?? [];
        if (typeof reading === 'number') result.observe(instrument, reading);
        else for (const [attributes, value] of reading) result.observe(instrument, value, attributes);
      }
    };
    this.#meter.addBatchObservableCallback(
      observe,
      observed.map(({ instrument }) => instrument),
    );
  }

  #recorder(instrument: Recorded): Counter | Histogram {
    const { kind, name, unit, description } = instrument;
    if (kind === 'histogram')
      return this.#meter.createHistogram(name, {
        unit,
        description,
        advice: { explicitBucketBoundaries: [...instrument.buckets] },
      });
    const counter = this.#meter.createCounter(name, { unit, description });
    for (const series of instrument.initial) counter.add(0, series);

    return counter;
  }
}
