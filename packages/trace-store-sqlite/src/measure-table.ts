import type { Measure } from '@vitrine/traces/trace-measures';

/** The columns of a measure. */
export const PLACES = {
  bucketStart: 0,
  group: 1,
  requests: 2,
  errors4xx: 3,
  errors5xx: 4,
  inputTokens: 5,
  outputTokens: 6,
  totalTokens: 7,
  costThousands: 8,
  costPico: 9,
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
export const ROW = Object.keys(PLACES).length;

/** Measures as they leave the read thread: the memory in which they were added up, which is transferred. Thirty thousand objects would be
 *  cloned for longer than it takes to add them up. */
export interface MeasureTable {
  readonly numbers: Float64Array<ArrayBuffer>;
  /** The rows in the order of the result. */
  readonly order: Uint32Array<ArrayBuffer>;
  /** The names of groups, by their place. */
  readonly groups: readonly string[];
}

/** The measures of a table: 2 ms for thirty thousand. */
export function measuresIn({ numbers, order, groups }: MeasureTable): Measure[] {
  return Array.from(order, (row) => {
    const number = (place: number) => numbers[row * ROW + place] ?? 0;
    return {
      bucketStart: number(PLACES.bucketStart),
      group: groups[number(PLACES.group)] ?? '',
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
