import type { Measure } from '../trace-analytics.ts';

/** Measures on their way from the read worker. As objects, thirty thousand of them held up the thread that they came to for 60 ms. */
export interface PackedMeasures {
  /** Names of groups, each once. */
  readonly groups: readonly string[];
  /** Row by row: see `PLACES`. */
  readonly numbers: Float64Array<ArrayBuffer>;
}

/** Where the numbers of a measure stand in its row. */
export const PLACES = {
  /** Place of its name in `groups`. */
  group: 0,
  bucketStart: 1,
  requests: 2,
  errors4xx: 3,
  errors5xx: 4,
  inputTokens: 5,
  outputTokens: 6,
  totalTokens: 7,
  costUsd: 8,
  latencyMs: 9,
  latencyMsMin: 10,
  latencyMsMax: 11,
  streams: 12,
  firstTokenUs: 13,
  lastActive: 14,
  p50Ms: 15,
  p95Ms: 16,
  p99Ms: 17,
} as const satisfies Record<keyof Measure, number>;
export const ROW = Object.keys(PLACES).length;

export function unpackMeasures({ groups, numbers }: PackedMeasures): Measure[] {
  const measures: Measure[] = [];
  for (let row = 0; row < numbers.length; row += ROW) {
    const at = (place: number) => numbers[row + place] ?? 0;
    measures.push({
      group: groups[at(PLACES.group)] ?? '',
      bucketStart: at(PLACES.bucketStart),
      requests: at(PLACES.requests),
      errors4xx: at(PLACES.errors4xx),
      errors5xx: at(PLACES.errors5xx),
      inputTokens: at(PLACES.inputTokens),
      outputTokens: at(PLACES.outputTokens),
      totalTokens: at(PLACES.totalTokens),
      costUsd: at(PLACES.costUsd),
      latencyMs: at(PLACES.latencyMs),
      latencyMsMin: at(PLACES.latencyMsMin),
      latencyMsMax: at(PLACES.latencyMsMax),
      streams: at(PLACES.streams),
      firstTokenUs: at(PLACES.firstTokenUs),
      lastActive: at(PLACES.lastActive),
      p50Ms: at(PLACES.p50Ms),
      p95Ms: at(PLACES.p95Ms),
      p99Ms: at(PLACES.p99Ms),
    });
  }
  return measures;
}
