import { issueText, knownKeysOf } from '@vitrine/config/issue-text';
import { isLongerThan } from '@vitrine/config/bounded-text';
import { Fault } from '@vitrine/faults/fault';
import { z } from 'zod';
import { isInOrder, MOMENT_PATTERN, notAfter, notBefore, readDate, readDateTime, type Moment } from './rfc3339.ts';

// Query parameters as zod shapes: they parse what express gives (a string, or several when a parameter was repeated; empty and absent are
// the same), and their JSON Schemas go into the OpenAPI document. In a message, `{}` stands for the parameter's name.

const TEXT_MAX_LENGTH = 1_024;
/** How many unknown parameters of a request an error names. */
const NAMED_MAX = 10;

type Reject = (message: string) => never;

/** A text of at most 1,024 characters. */
export const text = () => parameter({ type: 'string', maxLength: TEXT_MAX_LENGTH }, (value) => value);

/** A whole number from `min` to `max`. */
export const integer = (min: number, max: number) =>
  parameter({ type: 'integer', minimum: min, maximum: max }, (value, reject) => {
    if (!/^[+-]?\d+$/.test(value)) reject('{} must be an integer');
    const number = Number(value);
    if (number < min) reject(`{} must be >= ${min}`);
    if (number > max) reject(`{} must be <= ${max}`);
    return number;
  });

/** One of a few words. */
export const oneOf = <const T extends string>(values: readonly T[]) =>
  parameter({ type: 'string', enum: [...values] }, (value, reject) => {
    const found = values.find((known) => known === value);
    return found ?? reject(`invalid {}: ${JSON.stringify(value)}`);
  });

const MOMENT = {
  type: 'string',
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date' },
  ],
  pattern: MOMENT_PATTERN,
  examples: ['2026-01-31T12:00:00Z', '2026-01-31'],
};
/** The start of a time range; a date stands for its first moment. */
export const from = () =>
  parameter(MOMENT, (value, reject) => readDateTime(value) ?? readDate(value)?.first ?? rejectMoment(value, reject)).describe(
    'Not before: RFC 3339, or a date for its first moment.',
  );
/** The end of a time range; a date stands for its last moment. */
export const to = () =>
  parameter(MOMENT, (value, reject) => readDateTime(value) ?? readDate(value)?.last ?? rejectMoment(value, reject)).describe(
    'Not after: RFC 3339, or a date for its last moment.',
  );

/** A query with `from` and `to`, which its handler gets in milliseconds since the epoch, both inclusive. */
export function rangeQuery<Fields extends { from: ReturnType<typeof from>; to: ReturnType<typeof to> }>(fields: Fields) {
  return z
    .strictObject(fields)
    .refine(isForward, { message: 'to must be greater than or equal to from' })
    .transform((query) => {
      const { from, to } = query as Range;
      return { ...query, from: from && notBefore(from), to: to && notAfter(to) };
    });
}

interface Range {
  readonly from?: Moment | undefined;
  readonly to?: Moment | undefined;
}

function isForward(query: object): boolean {
  const { from, to } = query as Range;
  return from === undefined || to === undefined || isInOrder(from, to);
}

function rejectMoment(value: string, reject: Reject): never {
  // In a query a plus sign means a space.
  const isPlusLost = readDateTime(value.replace(/ (?=\d\d:\d\d$)/, '+')) !== undefined;
  return reject(`invalid {}: expected RFC3339 or YYYY-MM-DD${isPlusLost ? ' (in a query, + has to be written %2B)' : ''}`);
}

/** The query of an operation without parameters. */
export const NO_QUERY = z.strictObject({});

/** Parses a query, whose parameters all have to be known. Faults: `invalid_query`, with the first error. */
export function readQuery<S extends z.ZodType>(shape: S, values: unknown): z.infer<S> {
  const parsed = shape.safeParse(values, { error: queryText });
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const unknown = issues.find(({ code }) => code === 'unrecognized_keys');
  const { message = '', path = [] } = issues[0] ?? {};
  throw new Fault('invalid_query', { say: unknown?.message ?? message.replace('{}', String(path[0] ?? '')) });
}

function queryText(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== 'unrecognized_keys') return `{} ${issueText(issue)}`;
  const names = issue.keys.slice(0, NAMED_MAX).map((name) => JSON.stringify(name));
  const known = knownKeysOf(issue);
  const takes = known.length === 0 ? 'this path takes none' : `known parameters: ${known.join(', ')}`;
  return `unknown query parameter${names.length === 1 ? '' : 's'} ${names.join(', ')}; ${takes}`;
}

/** An optional parameter: `schema` describes its text, `read` parses it. */
export function parameter<T>(schema: Record<string, unknown>, read: (value: string, reject: Reject) => T) {
  return z
    .unknown()
    .meta(schema)
    .transform((value, context): T | undefined => {
      let message: string;
      try {
        if (value === undefined || value === '') return undefined;
        if (typeof value !== 'string') reject('{} must be given once');
        if (isLongerThan(value, TEXT_MAX_LENGTH)) reject(`{} must be at most ${TEXT_MAX_LENGTH} characters`);
        return read(value, reject);
      } catch (error) {
        if (!(error instanceof InvalidParameter)) throw error;
        message = error.message;
      }
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .optional()
    .meta({ param: { allowEmptyValue: true } });
}

class InvalidParameter extends Error {}

function reject(message: string): never {
  throw new InvalidParameter(message);
}
