import { z } from 'zod';

/** RFC 3339 in UTC. */
export const dateTime = z.iso.datetime();
export const uri = z.url();
export const count = z.int().min(0);

/** The time of a resource from milliseconds since the epoch. */
export function dateTimeOf(ms: number): string {
  return new Date(ms).toISOString();
}
