import { parseDuration } from '@vitrine/config/durations';
import { usageError } from './command.ts';

/** An option's text as milliseconds: a whole number of them, or a duration such as `5s`. Anything else, or what is not from `minMs` to
 *  `maxMs`, is a usage error. */
export function durationOption(option: string, text: string | undefined, minMs: number, maxMs: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : parseDuration(text);
  if (ms === undefined || ms < minMs || ms > maxMs)
    throw usageError(`${option} must be ${minMs} to ${maxMs} milliseconds, or a duration such as 5s`);
  return ms;
}
