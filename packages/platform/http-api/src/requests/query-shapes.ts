import { issueText, knownKeysOf } from '@vitrine/config/issue-text';
import { isLongerThan } from '@vitrine/config/bounded-text';
import { Fault } from '@vitrine/faults/fault';
import { parse } from 'node:querystring';
import { z } from 'zod';
import { isInOrder, MOMENT_PATTERN, notBefore, readDate, readDateTime, type Moment } from './rfc3339.ts';

// Query parameters as zod schemas. They parse the values of a query string (a string, or several for a repeated parameter), and their
// JSON Schemas are part of the OpenAPI document. In a message, `{}` stands for the parameter's name.

const TEXT_MAX_LENGTH = 1_024;
/** Maximum number of unknown parameters that an error names. */
const NAMED_MAX = 10;

type Reject = (message: string) => never;

/** The kinds of parameters, for an API that treats `?name=` as absent, or for one that treats it as a value. */
export function queryParameters(empty: 'absent' | 'value') {
  /** An optional parameter: `schema` describes its text, `read` parses it. */
  const parameter = <T>(schema: Record<string, unknown>, read: (value: string, reject: Reject) => T) => {
    const shape = z
      .unknown()
      .meta(schema)
      .transform((value, context): T | undefined => {
        if (value === undefined || (value === '' && empty === 'absent')) return undefined;
        try {
          return read(oneText(value), reject);
        } catch (error) {
          if (!(error instanceof InvalidParameter)) throw error;
          context.addIssue({ code: 'custom', message: error.message });
          return z.NEVER;
        }
      })
      .optional();
    return empty === 'absent' ? shape.meta({ param: { allowEmptyValue: true } }) : shape;
  };
  return {
    parameter,
    /** A text of `min` to `max` characters. */
    text: (min = 0, max = TEXT_MAX_LENGTH) =>
      parameter({ type: 'string', ...(min > 0 && { minLength: min }), maxLength: max }, (value) => {
        if (min > 0 && !isLongerThan(value, min - 1)) reject(`{} must have at least ${min} characters`);
        if (isLongerThan(value, max)) reject(`{} must have at most ${max} characters`);
        return value;
      }),
    /** A whole number from `min` to `max`. */
    integer: (min: number, max: number) =>
      parameter({ type: 'integer', minimum: min, maximum: max }, (value) => readInteger(value, min, max)),
    /** The same with a default; `absent` is the value of an absent parameter. */
    integerOr: (absent: number, min: number, max: number) =>
      parameter({ type: 'integer', minimum: min, maximum: max, default: absent }, (value) =>
        readInteger(value, min, max),
      ).transform((value) => value ?? absent),
    /** One of a few words. `rule`: the text of the error. */
    oneOf: <const T extends string>(values: readonly T[], rule?: string) =>
      parameter({ type: 'string', enum: [...values] }, (value) => {
        const found = values.find((known) => known === value);
        return found ?? reject(rule === undefined ? `invalid {}: ${JSON.stringify(value)}` : `{} ${rule}`);
      }),
  };
}

export const { parameter, text, integer, oneOf } = queryParameters('absent');

const MOMENT = {
  type: 'string',
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date' },
  ],
  pattern: MOMENT_PATTERN,
  examples: ['2026-01-31T12:00:00Z', '2026-01-31'],
};
/** The start of a time range; a date means its first moment. */
export const from = () =>
  parameter(MOMENT, (value, reject) => readDateTime(value) ?? readDate(value)?.first ?? rejectMoment(value, reject)).describe(
    'Not before: RFC 3339, or a date for its first moment.',
  );
/** The end of a time range; a date means its last moment. */
export const to = () =>
  parameter(MOMENT, (value, reject) => readDateTime(value) ?? readDate(value)?.last ?? rejectMoment(value, reject)).describe(
    'Not after: RFC 3339, or a date for its last moment.',
  );

/** One parameter per filter, and those of `Others`. `satisfies` rejects a parameter without a filter, and a filter without a parameter. */
export type FilterShapes<Filters, Others extends string = never> = Readonly<Record<keyof Required<Filters> | Others, z.ZodType>>;

/** A query with `from` and `to`. Its handler gets both in milliseconds since the epoch, inclusive. */
export function rangeQuery<Fields extends { from: ReturnType<typeof from>; to: ReturnType<typeof to> }>(fields: Fields) {
  return z
    .strictObject(fields)
    .refine(isForward, { message: 'to must be greater than or equal to from' })
    .transform((query) => {
      const { from, to } = query as Range;
      return { ...query, from: from && notBefore(from), to: to?.ms };
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

/** The parameters of a query string without its question mark. */
export function parseSearch(search: string): object {
  // The default limit drops everything after a thousand parameters, including empty ones. The size of a request's head already bounds
  // them.
  return parse(search, '&', '=', { maxKeys: 0 });
}

/** Parses a query. Unknown parameters are errors. Faults: `invalid_query`, with the first error. */
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

function oneText(value: unknown): string {
  if (typeof value !== 'string') return reject('{} must be given once');
  return isLongerThan(value, TEXT_MAX_LENGTH) ? reject(`{} must be at most ${TEXT_MAX_LENGTH} characters`) : value;
}

function readInteger(value: string, min: number, max: number): number {
  if (!/^[+-]?\d+$/.test(value)) reject('{} must be an integer');
  const number = Number(value);
  if (number < min) reject(`{} must be >= ${min}`);
  if (number > max) reject(`{} must be <= ${max}`);
  return number;
}

class InvalidParameter extends Error {}

function reject(message: string): never {
  throw new InvalidParameter(message);
}

/** For each filter of a query, the predicate of an item. A filter without one does not compile, so none is silently ignored. */
export type FilterRules<Filters extends object, Item> = {
  readonly [Name in keyof Filters]-?: (item: Item, wanted: NonNullable<Filters[Name]>) => boolean;
};

/** The items that pass every given filter. */
export function selectBy<Filters extends object, Item>(
  items: readonly Item[],
  filters: Filters,
  rules: FilterRules<Filters, Item>,
): Item[] {
  const names = (Object.keys(rules) as (keyof Filters)[]).filter((name) => filters[name] != null);
  return items.filter((item) => names.every((name) => rules[name](item, filters[name] as NonNullable<Filters[typeof name]>)));
}
