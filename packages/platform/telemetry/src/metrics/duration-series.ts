import type { Attributes, HrTime } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { DataPoint, Histogram } from '@opentelemetry/sdk-metrics';
import type { SpanIds } from '../active-span.ts';

/** A measurement with a reference to its trace. */
export interface Exemplar {
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Counted from 1 over the process. Identifies new exemplars, because the clock of `time` may be set back. */
  readonly number: number;
  readonly traceId: string;
  readonly spanId: string;
}

let exemplars = 0;

/** Counts of a histogram for one set of attributes, with the newest exemplar of each bucket. */
interface DurationPoint extends DataPoint<Histogram> {
  /** By bucket; the last one is above all bounds. */
  readonly exemplars: readonly (Exemplar | undefined)[];
}

/** Exemplars of a histogram's point. The SDK's own points have none. */
export function exemplarsOf(point: DataPoint<Histogram>): DurationPoint['exemplars'] {
  return 'exemplars' in point ? (point as DurationPoint).exemplars : [];
}

/** One series of a histogram of seconds, since the process began. Updated in place, so that recording allocates nothing. The SDK's
 *  histogram sorts and hashes the attributes for every measurement. */
export class DurationSeries {
  readonly #attributes: Attributes;
  readonly #boundaries: readonly number[];
  readonly #startTime: HrTime;
  readonly #counts: number[];
  readonly #exemplars: ({ -readonly [Field in keyof Exemplar]: Exemplar[Field] } | undefined)[];
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  /** `boundaries`: upper bounds of the buckets, ascending. `startedAt`: milliseconds since the epoch. */
  constructor(attributes: Attributes, boundaries: readonly number[], startedAt: number) {
    this.#attributes = attributes;
    this.#boundaries = boundaries;
    this.#startTime = millisToHrTime(startedAt);
    this.#counts = Array.from({ length: boundaries.length + 1 }, () => 0);
    this.#exemplars = Array.from({ length: boundaries.length + 1 });
  }

  /** `ids`: those of the sampled span that was measured; `time`: milliseconds since the epoch. */
  record(seconds: number, ids: SpanIds | undefined, time: number): void {
    const boundaries = this.#boundaries;
    let bucket = 0;
    while (bucket < boundaries.length && seconds > boundaries[bucket]!) bucket += 1;
    this.#counts[bucket]! += 1;
    this.#count += 1;
    this.#sum += seconds;
    if (seconds < this.#min) this.#min = seconds;
    if (seconds > this.#max) this.#max = seconds;
    if (ids !== undefined) this.#offer(bucket, seconds, ids, time);
  }

  /** Undefined before the first recording. `endTime`: now. */
  point(endTime: HrTime): DurationPoint | undefined {
    if (this.#count === 0) return undefined;
    const buckets = { boundaries: [...this.#boundaries], counts: [...this.#counts] };
    return {
      attributes: this.#attributes,
      startTime: this.#startTime,
      endTime,
      value: { buckets, count: this.#count, sum: this.#sum, min: this.#min, max: this.#max },
      exemplars: this.#exemplars.map((exemplar) => exemplar && { ...exemplar }),
    };
  }

  #offer(bucket: number, value: number, { traceId, spanId }: SpanIds, time: number): void {
    const slot = this.#exemplars[bucket];
    exemplars += 1;
    if (slot === undefined) {
      this.#exemplars[bucket] = { value, time, number: exemplars, traceId, spanId };
    } else {
      slot.value = value;
      slot.time = time;
      slot.number = exemplars;
      slot.traceId = traceId;
      slot.spanId = spanId;
    }
  }
}
