import { usageError } from './command.ts';

/** An option's text as a whole number from `min` to `max`; anything else is a usage error. */
export function wholeNumber(option: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= min && number <= max)) throw usageError(`${option} must be a whole number from ${min} to ${max}`);
  return number;
}
