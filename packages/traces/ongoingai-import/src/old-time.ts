/** A time with the precision of `ongoingai/gateway`: nanoseconds. */
export interface OldTime {
  readonly ms: number;
  /** Within that millisecond. */
  readonly nanoseconds: number;
}

/** The latest time that fits into a trace id. */
const LATEST_MS = 2 ** 48 - 1;

// Its SQLite driver writes times in Go's format, `2026-02-12 15:04:05.123456789 +0000 UTC`. It also reads RFC 3339 and SQLite's own
// format, which has no zone and means UTC.
const FORM =
  /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(?: ?(?:(Z)|([+-]\d\d):?(\d\d)))?(?: [A-Za-z0-9+-]{1,8})?(?: m=[+-][\d.]+)?$/;

/** Undefined for anything but a time that fits into a trace id. */
export function parseOldTime(text: string | null): OldTime | undefined {
  const [, day, time, fraction = '', , offsetHours, offsetMinutes] = FORM.exec(text?.trim() ?? '') ?? [];
  if (day === undefined || time === undefined) return undefined;
  const offset = offsetHours === undefined ? 'Z' : `${offsetHours}:${offsetMinutes}`;
  const seconds = Date.parse(`${day}T${time}${offset}`);
  const digits = fraction.padEnd(9, '0');
  const ms = seconds + Number(digits.slice(0, 3));
  return ms >= 0 && ms <= LATEST_MS ? { ms, nanoseconds: Number(digits.slice(3)) } : undefined;
}
