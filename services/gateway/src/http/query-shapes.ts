import { Fault } from '@vitrine/faults/fault';
import { z } from 'zod';

// Query parameters as shapes: they read what express gives (a text, or several when a parameter was repeated; empty and absent are
// the same), and their JSON Schemas are the API's description. A message begins with `{}` where the parameter's name goes.

const DAY_MS = 86_400_000;
const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;
const TEXT_MAX_LENGTH = 1_024;

type Refuse = (message: string) => never;

/** A text of at most 1,024 characters. */
export const text = () => parameter({ type: 'string', maxLength: TEXT_MAX_LENGTH }, (value) => value);

/** A whole number from `min` to `max`. */
export const integer = (min: number, max: number) =>
  parameter({ type: 'integer', minimum: min, maximum: max }, (value, refuse) => {
    if (!/^[+-]?\d{1,15}$/.test(value)) refuse('{} must be an integer');
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

const MOMENT = { type: 'string', examples: ['2026-01-31T12:00:00Z', '2026-01-31'] };
/** A moment in milliseconds since the epoch; of a date alone its first. */
export const from = () =>
  parameter(MOMENT, (value, refuse) => momentOf(value, refuse).at).describe(
    'Not before: RFC 3339, or a date for its first moment.',
  );
/** A moment in milliseconds since the epoch; of a date alone its last. */
export const to = () =>
  parameter(MOMENT, (value, refuse) => {
    const { at, isDate } = momentOf(value, refuse);
    return isDate ? at + DAY_MS - 1 : at;
  }).describe('Not after: RFC 3339, or a date for its last moment.');

/** The rule of every pair of `from` and `to`. */
export function isForward(range: { from?: number | undefined; to?: number | undefined }): boolean {
  return range.from === undefined || range.to === undefined || range.to >= range.from;
}
export const BACKWARD = 'to must be greater than or equal to from';

/** Reads a query. Faults: `invalid_query`, with the first thing that is wrong. */
export function readQuery<S extends z.ZodType>(shape: S, values: unknown): z.infer<S> {
  const parsed = shape.safeParse(values);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault('invalid_query', { say: (issue?.message ?? '').replace('{}', String(issue?.path[0] ?? '')) });
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
        if (value.length > TEXT_MAX_LENGTH) refuse(`{} must be at most ${TEXT_MAX_LENGTH} characters`);
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

function momentOf(value: string, refuseIt: Refuse): { at: number; isDate: boolean } {
  const isDate = DATE_ONLY.test(value);
  const at = isDate || RFC3339.test(value) ? Date.parse(value.toUpperCase()) : Number.NaN;
  // Date.parse takes the 30th of February for the 2nd of March.
  const day = value.slice(0, 'YYYY-MM-DD'.length);
  const isReal = !Number.isNaN(at) && new Date(Date.parse(day)).toISOString().startsWith(day);
  return isReal ? { at, isDate } : refuseIt('invalid {}: expected RFC3339 or YYYY-MM-DD');
}
