import { bucketStartOf, DAY_MS, HOUR_MS, type Bucket } from './time-buckets.ts';

/** A half-open range of time. */
export interface Span {
  readonly from: number;
  readonly before: number;
}

interface SplitRange {
  readonly days: readonly Span[];
  readonly hours: readonly Span[];
  /** Parts of hours, at the edges: each lies within one hour. */
  readonly parts: readonly Span[];
}

/** Splits an inclusive range of time into whole days, whole hours and parts of hours. Days are only useful if no bucket is shorter. */
export function splitRange(
  from: number = Number.NEGATIVE_INFINITY,
  to: number = Number.POSITIVE_INFINITY,
  bucket?: Bucket,
): SplitRange {
  const before = to + 1;
  const firstHour = roundUp(from, HOUR_MS);
  const lastHour = roundDown(before, HOUR_MS);
  if (firstHour > lastHour) return { days: [], hours: [], parts: [{ from, before }] };
  const parts = spans([from, firstHour], [lastHour, before]);
  const [firstDay, lastDay] = [roundUp(firstHour, DAY_MS), roundDown(lastHour, DAY_MS)];
  if (bucket === 'hour' || firstDay >= lastDay) return { days: [], hours: spans([firstHour, lastHour]), parts };
  return { days: spans([firstDay, lastDay]), hours: spans([firstHour, firstDay], [lastDay, lastHour]), parts };
}

function spans(...of: readonly [from: number, before: number][]): Span[] {
  return of.flatMap(([from, before]) => (from < before ? [{ from, before }] : []));
}

function roundDown(at: number, unit: number): number {
  return Number.isFinite(at) ? bucketStartOf(at, unit === DAY_MS ? 'day' : 'hour') : at;
}

function roundUp(at: number, unit: number): number {
  return Number.isFinite(at) ? roundDown(at + unit - 1, unit) : at;
}
