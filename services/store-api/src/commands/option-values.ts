import { usageError } from '@vitrine/command-line/command';
import { readDate, readDateTime } from '@vitrine/http-api/requests/rfc3339';
import { canonicalDomain } from '@vitrine/stores/canonical-domain';
import { z } from 'zod';

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const TIME_FORM = 'a number of minutes, hours or days such as 15m, 12h or 90d';
const MAX_TEXT = 200;

/** A text for people, of at most 200 characters. */
export function textOption(option: string, text: string): string {
  if (text.length <= MAX_TEXT && !/\p{Cc}/u.test(text)) return text;
  throw usageError(`${option} must have at most ${MAX_TEXT} characters, and no control characters`);
}

/** In lower case. */
export function emailOption(option: string, text: string): string {
  const email = text.trim().toLowerCase();
  if (!z.email().max(254).safeParse(email).success) throw usageError(`${option} must be an e-mail address; got "${email}"`);
  return email;
}

export function domainOf(text: string): string {
  const domain = canonicalDomain(text);
  if (domain === undefined) throw usageError(`"${text}" must be a host name or URL with a public registrable domain`);
  return domain;
}

/** Milliseconds. */
export function timeSpanOption(option: string, text: string, maxMs: number): number {
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const ms = Number(amount) * (UNITS_MS[unit] ?? 0);
  if (!(ms > 0 && ms <= maxMs)) throw usageError(`${option} must be ${TIME_FORM}, at most ${maxMs / 86_400_000}d; got "${text}"`);
  return ms;
}

/** A moment in the future, in milliseconds since the epoch, from a date-time, a day or a time from now. */
export function expiryOption(option: string, text: string, nowMs: number, maxMs: number): number {
  const isSpan = /^\d+[a-z]$/.test(text);
  const at = isSpan ? nowMs + timeSpanOption(option, text, maxMs) : (readDateTime(text)?.ms ?? readDate(text)?.first.ms);
  if (at === undefined) throw usageError(`${option} must be a date, a date-time, or ${TIME_FORM}; got "${text}"`);
  if (at <= nowMs || at > nowMs + maxMs)
    throw usageError(`${option} must be in the future and at most ${maxMs / 86_400_000} days ahead; got "${text}"`);
  return at;
}
