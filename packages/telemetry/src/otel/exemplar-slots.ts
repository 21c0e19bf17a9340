/** One measurement that a trace can be found by. */
export interface Exemplar {
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly traceId: string;
  readonly spanId: string;
}

/** The ids of a sampled span. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** The newest exemplar of each bucket of one histogram series. What they hold is written over in place: nothing is allocated while
 *  requests pass. */
export class ExemplarSlots {
  readonly #buckets: readonly number[];
  readonly #slots: ({ value: number; time: number; traceId: string; spanId: string } | undefined)[];

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets;
    this.#slots = Array.from({ length: buckets.length + 1 });
  }

  offer(value: number, time: number, { traceId, spanId }: SpanIds): void {
    let bucket = 0;
    while (bucket < this.#buckets.length && value > (this.#buckets[bucket] ?? 0)) bucket += 1;
    const slot = this.#slots[bucket];
    if (slot === undefined) {
      this.#slots[bucket] = { value, time, traceId, spanId };
    } else {
      slot.value = value;
      slot.time = time;
      slot.traceId = traceId;
      slot.spanId = spanId;
    }
  }

  /** By bucket, the last one for what is above all bounds. */
  at(bucket: number): Exemplar | undefined {
    return this.#slots[bucket];
  }

  /** Those newer than `time`. */
  since(time: number): Exemplar[] {
    return this.#slots.filter((slot) => slot !== undefined && slot.time > time) as Exemplar[];
  }
}

/** Finds the exemplars of a histogram's data point. Points carry the very attributes object they were recorded with. */
export type FindExemplars = (metric: string, attributes: object) => ExemplarSlots | undefined;
