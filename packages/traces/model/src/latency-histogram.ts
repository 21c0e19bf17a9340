// Latencies in additive buckets. Up to 50 ms a bucket is one millisecond. Beyond that each is 1.98 % wider than the previous one, so
// that a bucket's middle is within 1 % of every value in it.
const EXACT_MS = 50;
const GROWTH = 1.0198;
const LOG_GROWTH = Math.log(GROWTH);

/** Counts by bucket; buckets beyond the array's end are empty. */
export type LatencyCounts = number[];

/** The bucket of a latency in whole milliseconds. */
export function bucketOf(latencyMs: number): number {
  if (latencyMs <= EXACT_MS) return Math.max(0, latencyMs);
  return EXACT_MS + 1 + Math.floor(Math.log(latencyMs / (EXACT_MS + 1)) / LOG_GROWTH + 1e-9);
}

export function addLatency(counts: LatencyCounts, bucket: number, count: number): void {
  while (counts.length <= bucket) counts.push(0);
  counts[bucket] = (counts[bucket] ?? 0) + count;
}

/** The latency that `share` of all (0 to 1) do not exceed, by nearest rank, accurate to 1 %. */
export function percentileOf(counts: LatencyCounts, share: number): number {
  // Without iterators: a response by key needs a thousand percentiles of hundreds of buckets each.
  let total = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) total += counts[bucket] ?? 0;
  let left = Math.max(1, Math.ceil(share * total));
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    left -= counts[bucket] ?? 0;
    if (left <= 0) return middleOf(bucket);
  }
  return 0;
}

/** The geometric middle of the bucket. */
function middleOf(bucket: number): number {
  if (bucket <= EXACT_MS) return bucket;
  const low = (EXACT_MS + 1) * GROWTH ** (bucket - EXACT_MS - 1);
  return (2 * low * GROWTH) / (1 + GROWTH);
}
