/**
 * A parsed moment: whole milliseconds since the epoch, and the digits of a fraction beyond them without trailing zeros. Stored times
 * have no such digits, but the order of two moments may depend on them.
 */
export interface Moment {
  readonly ms: number;
  readonly beyond: string;
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** The accepted format, for the OpenAPI document. `format: date-time` alone would allow leap seconds and, to some parsers, a space for the
 *  T. */
export const MOMENT_PATTERN = String.raw`^\d{4}-\d{2}-\d{2}([Tt]\d{2}:\d{2}:[0-5]\d(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$`;

const MINUTE_MS = 60_000;
/** Sorts after every digit, because a day ends after every moment of its last millisecond. */
const END_OF_DAY = ':';

/** Parses a date-time of RFC 3339: every offset, `t` and `z` in either case, fractions of any length. Undefined for anything else, for
 *  a day or an hour that does not exist, and for leap seconds, which the system clock does not have. */
export function readDateTime(text: string): Moment | undefined {
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour = '0', offsetMinute = '0'] =
    DATE_TIME.exec(text) ?? [];
  const midnight = midnightOf(Number(year), Number(month), Number(day));
  if (midnight === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const ofDay =
    ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
  // East of Greenwich it is already later.
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * MINUTE_MS * (sign === '-' ? -1 : 1);
  return { ms: midnight + ofDay - offset, beyond: fraction.slice(3).replace(/(?<!0)0+$/, '') };
}

/** Parses `YYYY-MM-DD`, a UTC day, to its first and last moment. */
export function readDate(text: string): { readonly first: Moment; readonly last: Moment } | undefined {
  const [, year, month, day] = DATE.exec(text) ?? [];
  const midnight = midnightOf(Number(year), Number(month), Number(day));
  return midnight === undefined
    ? undefined
    : { first: { ms: midnight, beyond: '' }, last: { ms: new Date(midnight).setUTCHours(23, 59, 59, 999), beyond: END_OF_DAY } };
}

/** The first whole millisecond that is not before a moment. */
export function notBefore({ ms, beyond }: Moment): number {
  return beyond === '' ? ms : ms + 1;
}

/** The last whole millisecond that is not after a moment. */
export function notAfter({ ms }: Moment): number {
  return ms;
}

/** Whether `last` is not before `first`. */
export function isInOrder(first: Moment, last: Moment): boolean {
  return first.ms === last.ms ? first.beyond <= last.beyond : first.ms < last.ms;
}

/** Undefined for a day that does not exist. */
function midnightOf(year: number, month: number, day: number): number | undefined {
  // Date.UTC interprets the years 0 to 99 as 1900 to 1999.
  const date = new Date(0);
  const midnight = date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? midnight : undefined;
}
