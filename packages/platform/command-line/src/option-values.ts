import { parseDuration } from '@vitrine/config/durations';
import { usageError } from './command.ts';

/** The text of an option as a whole number from `min` to `max`; anything else is a usage error. */
export function wholeNumberOption(option: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= min && number <= max)) throw usageError(`${option} must be a whole number from ${min} to ${max}`);
  return number;
}

/** The text of an option as milliseconds from `minMs` to `maxMs`: a whole number of them, or a duration such as `5s`; anything else is
 *  a usage error. */
export function durationOption(option: string, text: string | undefined, minMs: number, maxMs: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : parseDuration(text);
  if (ms === undefined || ms < minMs || ms > maxMs)
    throw usageError(`${option} must be ${minMs} to ${maxMs} milliseconds, or a duration such as 5s`);
  return ms;
}

/** The text of an option as an http:// or https:// URL without slashes at its end; anything else is a usage error. */
export function httpUrlOption(option: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) throw usageError(`${option} must be an http:// or https:// URL`);
  return text.replace(/(?<!\/)\/+$/, '');
}
