import { z } from 'zod';

// Query parameters as zod shapes: they read what the query string has (a text, or several when a parameter was repeated), and their JSON
// Schemas go into the document. An empty parameter is a value, which the bounds of its length decide on.

/** A text of `min` to `max` characters. */
export const textParameter = (min: number, max: number) =>
  parameter({ type: 'string', minLength: min, maxLength: max }, (text) =>
    isLengthWithin(text, min, max) ? undefined : `must have ${min} to ${max} characters`,
  );

/** One of a few words. */
export const wordParameter = <const Word extends string>(words: readonly Word[]) =>
  parameter<Word>({ type: 'string', enum: [...words] }, (text) =>
    words.some((word) => word === text) ? undefined : `must be one of ${words.join(', ')}`,
  );

/** A whole number from `min` to `max`; `value` when it is absent. */
export const integerParameter = (min: number, max: number, value: number) =>
  z
    .unknown()
    .optional()
    .meta({ type: 'integer', minimum: min, maximum: max, default: value })
    .transform((given, context) => {
      if (given === undefined) return value;
      const number = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
      if (number >= min && number <= max) return number;
      context.addIssue({ code: 'custom', message: `must be a whole number from ${min} to ${max}` });
      return z.NEVER;
    });

/** `check` returns what is wrong with the text; undefined when it is a value. */
function parameter<Value extends string>(schema: Record<string, unknown>, check: (text: string) => string | undefined) {
  return z
    .unknown()
    .optional()
    .meta(schema)
    .transform((given, context): Value | undefined => {
      if (given === undefined) return undefined;
      const message = typeof given === 'string' ? check(given) : 'must be given once';
      if (message === undefined) return given as Value;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    });
}

function isLengthWithin(text: string, min: number, max: number): boolean {
  const { length } = Array.from(text.slice(0, 2 * max + 1));
  return length >= min && length <= max;
}
