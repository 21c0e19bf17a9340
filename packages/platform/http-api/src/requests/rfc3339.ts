import { z } from 'zod';

/** A parsed moment: whole milliseconds since the epoch, and the digits of a fraction beyond them without trailing zeros. Stored times have no
 *  such digits, but which of two moments is the later one may depend on them. */
export interface Moment {
  readonly ms: number;
  readonly beyond: string;
}

const DATE_TIME = z.regexes.datetime({ offset: true });

/** The accepted format, for the OpenAPI document. `format: date-time` alone would allow leap seconds and, to some parsers, a space for the
 *  T. */
export const MOMENT_PATTERN = String.raw`^\d{4}-\d{2}-\d{2}([Tt]\d{2}:\d{2}:[0-5]\d(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$`;

/** Sorts behind every digit: a day ends after every moment of its last millisecond. */
const END_OF_DAY = ':';

/** Parses a date-time of RFC 3339: every offset, `t` and `z` in either case, fractions of any length. Undefined for anything else, for
 *  a day or an hour that does not exist, and for leap seconds, which the system clock does not have. */
export function readDateTime(text: string): Moment | undefined {
  const upper = text.toUpperCase();
  if (!DATE_TIME.test(upper)) return undefined;
  const [, fraction = ''] = /\.(\d+)/.exec(upper) ?? [];
  // V8 reads a fraction of ten digits wrongly: .0100000000 is 100 ms.
  const ms = Date.parse(upper.replace(/\.\d+/, `.${fraction.slice(0, 3)}`));
  return { ms, beyond: fraction.slice(3).replace(/(?<!0)0+$/, '') };
}

/** Parses `YYYY-MM-DD`, a UTC day, to its first and last moment. */
export function readDate(text: string): { readonly first: Moment; readonly last: Moment } | undefined {
  if (!z.regexes.date.test(text)) return undefined;
  const ms = Date.parse(text);
  return { first: { ms, beyond: '' }, last: { ms: ms + 86_399_999, beyond: END_OF_DAY } };
}

/** The first whole millisecond that is not before a moment. */
export function notBefore({ ms, beyond }: Moment): number {
  return beyond === '' ? ms : ms + 1;
}

/** Whether `last` is not before `first`. */
export function isInOrder(first: Moment, last: Moment): boolean {
  return first.ms === last.ms ? first.beyond <= last.beyond : first.ms < last.ms;
}
