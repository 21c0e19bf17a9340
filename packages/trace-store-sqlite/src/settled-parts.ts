import { bucketStartOf, DAY_MS, HOUR_MS, type Bucket } from '@vitrine/traces/trace-analytics';

const LENGTHS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const satisfies Record<Bucket, number>;

/** A part of a range of time, both ends inclusive; open where there is none. */
export interface RangePart {
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Whether it is whole buckets, and nothing of it is unsettled. */
  readonly isSettled: boolean;
}

/** Divides a range, both ends inclusive, into the whole buckets before the one that holds `unsettledFrom`, and what is before and after them.
 *  No bucket is divided. */
export function settledParts(
  from: number | undefined,
  to: number | undefined,
  bucket: Bucket,
  unsettledFrom: number,
): readonly RangePart[] {
  const first = from === undefined ? undefined : bucketStartOf(from + LENGTHS[bucket] - 1, bucket);
  const end = Math.min((to ?? Number.POSITIVE_INFINITY) + 1, unsettledFrom);
  const before = end === Number.POSITIVE_INFINITY ? undefined : bucketStartOf(end, bucket);
  const last = before === undefined ? undefined : before - 1;
  if (first !== undefined && last !== undefined && first > last) return [{ from, to, isSettled: false }];
  return [
    ...(first === undefined || first === from ? [] : [{ from, to: first - 1, isSettled: false }]),
    { from: first, to: last, isSettled: true },
    ...(before === undefined || last === to ? [] : [{ from: before, to, isSettled: false }]),
  ];
}
