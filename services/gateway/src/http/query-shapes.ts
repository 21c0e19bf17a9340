import { issueText, knownKeysOf } from '@vitrine/config/issue-text';
import { isLongerThan } from '@vitrine/config/bounded-text';
import { Fault } from '@vitrine/faults/fault';
import { z } from 'zod';
import { isInOrder, MOMENT_PATTERN, notAfter, notBefore, readDate, readDateTime, type Moment } from './rfc3339.ts';

// Query parameters as shapes: they read what express gives (a text, or several when a parameter was repeated; empty and absent are
// the same), and their JSON Schemas are the API's description. A message begins with `{}` where the parameter's name goes.

const TEXT_MAX_LENGTH = 1_024;
/** Of the unknown parameters of one request that are named. */
const NAMED_MAX = 10;

type Refuse = (message: string) => never;

/** A text of at most 1,024 characters. */
export const text = () => parameter({ type: 'string', maxLength: TEXT_MAX_LENGTH }, (value) => value);

/** A whole number from `min` to `max`. */
export const integer = (min: number, max: number) =>
  parameter({ type: 'integer', minimum: min, maximum: max }, (value, refuse) => {
    if (!/^[+-]?\d+$/.test(value)) refuse('{} must be an integer');
    const number = Number(value);
    if (number < min) refuse(`{} must be >= ${min}`);
    if (number > max) refuse(`{} must be <= ${max}`);
    return number;
  });

/** One of a few words. */
export const oneOf = <const T extends string>(values: readonly T[]) =>
  parameter({ type: 'string', enum: [...values] }, (value, refuse) => {
    const found = values.find((known) => known === value);
    return found ?? refuse(`invalid {}: ${JSON.stringify(value)}`);
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
/** A moment; of a date alone its first. */
export const from = () =>
  parameter(MOMENT, (value, refuse) => readDateTime(value) ?? readDate(value)?.first ?? refuseMoment(value, refuse)).describe(
    'Not before: RFC 3339, or a date for its first moment.',
  );
/** A moment; of a date alone its last. */
export const to = () =>
  parameter(MOMENT, (value, refuse) => readDateTime(value) ?? readDate(value)?.last ?? refuseMoment(value, refuse)).describe(
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

function refuseMoment(value: string, refuse: Refuse): never {
  // In a query a plus sign means a space.
  const isPlusLost = readDateTime(value.replace(/ (?=\d\d:\d\d$)/, '+')) !== undefined;
  return refuse(`invalid {}: expected RFC3339 or YYYY-MM-DD${isPlusLost ? ' (in a query, + has to be written %2B)' : ''}`);
}

/** The shape of an operation without parameters. */
export const NO_QUERY = z.strictObject({});

/** Reads a query, of which all parameters have to be known. Faults: `invalid_query`, with the first thing that is wrong. */
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

/** A parameter that may be left out: `schema` describes its text, `read` makes its value. */
export function parameter<T>(schema: Record<string, unknown>, read: (value: string, refuse: Refuse) => T) {
  return z
    .unknown()
    .meta(schema)
    .transform((value, context): T | undefined => {
      let message: string;
      try {
        if (value === undefined || value === '') return undefined;
        if (typeof value !== 'string') refuse('{} must be given once');
        if (isLongerThan(value, TEXT_MAX_LENGTH)) refuse(`{} must be at most ${TEXT_MAX_LENGTH} characters`);
        return read(value, refuse);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        message = error.message;
      }
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .optional();
}

class Refusal extends Error {}

function refuse(message: string): never {
  throw new Refusal(message);
}
