import type { BucketMeasures, Measure } from './trace-measures.ts';

/** The buckets of measures, which are in their order. */
export function* bucketsOf(measures: readonly Measure[]): Generator<BucketMeasures> {
  let from = 0;
  for (let at = 1; at <= measures.length; at += 1) {
    if (measures[at]?.bucketStart === measures[from]?.bucketStart) continue;
    yield bucketOf(measures.slice(from, at));
    from = at;
  }
}

function bucketOf(measures: readonly Measure[]): BucketMeasures {
  return {
    bucketStart: measures[0]?.bucketStart ?? 0,
    groups: measures.map(({ group }) => group),
    requests: measures.map(({ requests }) => requests),
    inputTokens: measures.map(({ inputTokens }) => inputTokens),
    outputTokens: measures.map(({ outputTokens }) => outputTokens),
    totalTokens: measures.map(({ totalTokens }) => totalTokens),
    costThousands: measures.map(({ cost }) => cost.thousands),
    costPico: measures.map(({ cost }) => cost.pico),
  };
}
