import { z } from 'zod';

/** A string of at most `max` characters. */
export const boundedText = (max: number): z.ZodString =>
  z
    .string()
    .refine((text) => !isLongerThan(text, max), `must be at most ${max} characters`)
    .meta({ maxLength: max });

/** Whether a text has more than `max` characters, counted as JSON Schema counts them: what takes two units of UTF-16, such as an
 *  emoji, is one. */
export function isLongerThan(text: string, max: number): boolean {
  return text.length > max && Array.from(text).length > max;
}
