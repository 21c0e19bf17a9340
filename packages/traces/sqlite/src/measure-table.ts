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
  upperThousands: 8,
  upperPico: 9,
  rejected: 10,
  unpriced: 11,
  estimated: 12,
  missingUsage: 13,
  errors4xx: 14,
  errors5xx: 15,
  latencyMs: 16,
  latencyMsMin: 17,
  latencyMsMax: 18,
  streams: 19,
  firstTokenUs: 20,
  lastActive: 21,
  p50Ms: 22,
  p95Ms: 23,
  p99Ms: 24,
} as const;
export const ROW_LENGTH = 25;

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
      rejected: number(PLACES.rejected),
      unpriced: number(PLACES.unpriced),
      estimated: number(PLACES.estimated),
      missingUsage: number(PLACES.missingUsage),
      errors4xx: number(PLACES.errors4xx),
      errors5xx: number(PLACES.errors5xx),
      inputTokens: number(PLACES.inputTokens),
      outputTokens: number(PLACES.outputTokens),
      totalTokens: number(PLACES.totalTokens),
      cost: { thousands: number(PLACES.costThousands), pico: number(PLACES.costPico) },
      upper: { thousands: number(PLACES.upperThousands), pico: number(PLACES.upperPico) },
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
