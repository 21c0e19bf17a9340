import type { Attributes, HrTime } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { DataPoint, Histogram } from '@opentelemetry/sdk-metrics';

/** The ids of a span, in lower case hexadecimal. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** One measurement with the span that explains it. */
export interface Exemplar extends SpanIds {
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Counted from 1 over the process. New exemplars are recognised by it, because the clock of `time` may be put back. */
  readonly number: number;
}

let exemplars = 0;

/** What a histogram has counted for one set of attributes, with the newest exemplar of each bucket. */
interface DurationPoint extends DataPoint<Histogram> {
  /** By bucket; the last bucket is above all bounds. */
  readonly exemplars: readonly (Exemplar | undefined)[];
}

/** The exemplars of a histogram's point; the SDK's own points have none. */
export function exemplarsOf(point: DataPoint<Histogram>): DurationPoint['exemplars'] {
  return 'exemplars' in point ? (point as DurationPoint).exemplars : [];
}

/** One series of a histogram of seconds, since the process began. */
export class DurationSeries {
  readonly #attributes: Attributes;
  readonly #boundaries: readonly number[];
  readonly #startTime: HrTime;
  readonly #counts: number[];
  readonly #exemplars: (Exemplar | undefined)[];
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
    const within = this.#boundaries.findIndex((bound) => seconds <= bound);
    const bucket = within === -1 ? this.#boundaries.length : within;
    this.#counts[bucket]! += 1;
    this.#count += 1;
    this.#sum += seconds;
    this.#min = Math.min(this.#min, seconds);
    this.#max = Math.max(this.#max, seconds);
    if (ids === undefined) return;
    exemplars += 1;
    this.#exemplars[bucket] = { value: seconds, time, number: exemplars, traceId: ids.traceId, spanId: ids.spanId };
  }

  /** Undefined while nothing was recorded. `endTime`: now. */
  point(endTime: HrTime): DurationPoint | undefined {
    if (this.#count === 0) return undefined;
    const buckets = { boundaries: [...this.#boundaries], counts: [...this.#counts] };
    return {
      attributes: this.#attributes,
      startTime: this.#startTime,
      endTime,
      value: { buckets, count: this.#count, sum: this.#sum, min: this.#min, max: this.#max },
      exemplars: [...this.#exemplars],
    };
  }
}
