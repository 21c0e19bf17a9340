import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { issueText } from './issue-text.ts';

const textOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value, { error: issueText }).error?.issues[0]?.message;

test.each([
  [z.string(), undefined, 'is required, and must be a string'],
  [z.string(), null, 'must be a string, not null'],
  [z.int(), 1.5, 'must be a whole number, not a fraction'],
  [z.int(), Number.NaN, 'must be a number, not NaN'],
  [z.number(), Number.POSITIVE_INFINITY, 'must be a number, not Infinity'],
  [z.boolean(), 'yes', 'must be true or false, not a string'],
  [z.string(), true, 'must be a string, not true'],
  [z.array(z.string()), {}, 'must be a list, not an object'],
  [z.strictObject({}), 3, 'must be an object, not a number'],
  [z.record(z.string(), z.string()), [], 'must be an object, not a list'],
  [z.bigint(), 3, 'must be of type bigint, not a number'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(3), 'ab', 'must have at least 3 characters'],
  [z.string().max(3), 'abcd', 'must have at most 3 characters'],
  [z.array(z.int()).min(2), [1], 'must have at least 2 items'],
  [z.array(z.int()).max(1), [1, 2], 'must have at most 1 items'],
  [z.int().min(1), 0, 'must be at least 1'],
  [z.number().gt(1), 1, 'must be greater than 1'],
  [z.int().max(5), 6, 'must be at most 5'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.int(), 1e300, 'must be at most 9007199254740991'],
  [z.number().multipleOf(5), 7, 'must be a multiple of 5'],
  [z.enum(['a', 'b', 'c']), 'd', 'must be "a", "b" or "c"'],
  [z.literal('a'), 'd', 'must be "a"'],
  [z.literal(7), 'd', 'must be 7'],
  [z.string().regex(/^a+$/), 'b', 'must match /^a+$/'],
  [z.string().startsWith('/'), 'b', 'must start with "/"'],
  [z.string().endsWith('/'), 'b', 'must end with "/"'],
  [z.string().includes('@'), 'b', 'must contain "@"'],
  [z.iso.datetime(), 'b', 'must be an RFC 3339 timestamp'],
  [z.iso.date(), 'b', 'must be a date, YYYY-MM-DD'],
  [z.url(), 'b', 'must be a URL'],
  [z.email(), 'b', 'must have the format email'],
  [z.strictObject({ a: z.string().optional() }), { b: 1, c: 2 }, 'unknown key; known keys: a'],
  [z.strictObject({}), { b: 1 }, 'unknown key'],
  [z.record(z.string().regex(/^a/, 'must begin with a'), z.int()), { b: 1 }, 'the name must begin with a'],
  [z.union([z.int(), z.boolean()]), 'b', 'has a form that is not allowed'],
  [z.custom(() => false), 'b', 'has a form that is not allowed'],
  // Texts of the schema are kept.
  [z.string().min(3, 'is too short for a name'), 'ab', 'is too short for a name'],
  [z.string().refine(() => false, 'is not to our taste'), 'ab', 'is not to our taste'],
])('%# %j: %s', (schema, value, text) => {
  expect(textOf(schema, value)).toBe(text);
});
