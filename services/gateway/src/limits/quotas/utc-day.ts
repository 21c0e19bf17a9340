import { DAY_MS } from '@vitrine/traces/time-buckets';

/** `YYYY-MM-DD` of a number of days since the epoch. */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
