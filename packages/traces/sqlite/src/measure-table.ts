import type { Measure } from '@vitrine/traces/trace-measures';

/** The columns of a row. The name of its group is in `groups`. */
export const PLACES = {
  bucketStart: 0,
  requests: 2,
  inputTokens: 3,
  outputTokens: 4,
  totalTokens: 5,
  costThousands: 6,
  costPico: 7,
  errors4xx: 8,
  errors5xx: 9,
  latencyMs: 10,
  latencyMsMin: 11,
  latencyMsMax: 12,
  streams: 13,
  firstTokenUs: 14,
  lastActive: 15,
  p50Ms: 16,
  p95Ms: 17,
  p99Ms: 18,
} as const;
export const ROW_LENGTH = 19;

/** Measures sent from the read thread: the memory in which they were summed, which is transferred. Cloning thirty thousand objects would take
 *  longer than summing them. */
export interface MeasureTable {
  readonly numbers: Float64Array<ArrayBuffer>;
  /** The rows in the order of the result. */
  readonly order: Uint32Array<ArrayBuffer>;
  /** The names of groups, by row. */
  readonly groups: readonly string[];
}

/** The measures of a table: 2 ms for thirty thousand. */
export function measuresIn({ numbers, order, groups }: MeasureTable): Measure[] {
  return Array.from(order, (row) => {
    const number = (place: number) => numbers[row * ROW_LENGTH + place] ?? 0;
    return {
      bucketStart: number(PLACES.bucketStart),
      group: groups[row] ?? '',
      requests: number(PLACES.requests),
      errors4xx: number(PLACES.errors4xx),
      errors5xx: number(PLACES.errors5xx),
      inputTokens: number(PLACES.inputTokens),
      outputTokens: number(PLACES.outputTokens),
      totalTokens: number(PLACES.totalTokens),
      cost: { thousands: number(PLACES.costThousands), pico: number(PLACES.costPico) },
      latencyMs: number(PLACES.latencyMs),
      latencyMsMin: number(PLACES.latencyMsMin),
      latencyMsMax: number(PLACES.latencyMsMax),
      p50Ms: number(PLACES.p50Ms),
      p95Ms: number(PLACES.p95Ms),
      p99Ms: number(PLACES.p99Ms),
      streams: number(PLACES.streams),
      firstTokenUs: number(PLACES.firstTokenUs),
      lastActive: number(PLACES.lastActive),
    };
  });
}
