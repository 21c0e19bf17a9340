import { z } from 'zod';

/** A string of at most `max` characters. */
export const boundedText = (max: number): z.ZodString =>
  z
    .string()
    .refine((text) => !isLongerThan(text, max), `must be at most ${max} characters`)
    .meta({ maxLength: max });

/** Whether a text has more than `max` characters. As in JSON Schema, a character of two UTF-16 units, such as an emoji, counts once. */
export function isLongerThan(text: string, max: number): boolean {
  return text.length > max && Array.from(text).length > max;
}
