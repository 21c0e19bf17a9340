import type { BucketMeasures, Measure } from './trace-measures.ts';

/** The buckets of measures, which are in their order. */
export function* bucketsOf(measures: Iterable<Measure>): Generator<BucketMeasures> {
  let bucket: ReturnType<typeof emptyBucket> | undefined;
  for (const one of measures) {
    if (bucket?.bucketStart !== one.bucketStart) {
      if (bucket !== undefined) yield bucket;
      bucket = emptyBucket(one.bucketStart);
    }
    bucket.groups.push(one.group);
    bucket.requests.push(one.requests);
    bucket.inputTokens.push(one.inputTokens);
    bucket.outputTokens.push(one.outputTokens);
    bucket.totalTokens.push(one.totalTokens);
    bucket.costThousands.push(one.cost.thousands);
    bucket.costPico.push(one.cost.pico);
  }
  if (bucket !== undefined) yield bucket;
}

const column = (): number[] => [];

function emptyBucket(bucketStart: number) {
  return {
    bucketStart,
    groups: [] as string[],
    requests: column(),
    inputTokens: column(),
    outputTokens: column(),
    totalTokens: column(),
    costThousands: column(),
    costPico: column(),
  };
}
