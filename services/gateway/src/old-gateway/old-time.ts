/** A moment as `ongoingai/gateway` keeps it: to the nanosecond. */
export interface OldTime {
  readonly ms: number;
  /** Nanoseconds of that millisecond. */
  readonly nanoseconds: number;
}

/** Latest time that a trace id can carry. */
const LATEST_MS = 2 ** 48 - 1;

// Its SQLite driver writes the text that Go gives a time, `2026-02-12 15:04:05.123456789 +0000 UTC`. RFC 3339, and SQLite's own
// texts, which name no zone and mean UTC, are what it reads as well.
const FORM =
  /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(?: ?(?:(Z)|([+-]\d\d):?(\d\d)))?(?: [A-Za-z0-9+-]{1,8})?(?: m=[+-][\d.]+)?$/;

/** Undefined for what is no time that a trace id can carry. */
export function parseOldTime(text: string | null): OldTime | undefined {
  const [, day, time, fraction = '', , offsetHours, offsetMinutes] = FORM.exec(text?.trim() ?? '') ?? [];
  if (day === undefined || time === undefined) return undefined;
  const offset = offsetHours === undefined ? 'Z' : `${offsetHours}:${offsetMinutes}`;
  const seconds = Date.parse(`${day}T${time}${offset}`);
  const digits = fraction.padEnd(9, '0');
  const ms = seconds + Number(digits.slice(0, 3));
  return ms >= 0 && ms <= LATEST_MS ? { ms, nanoseconds: Number(digits.slice(3)) } : undefined;
}
