import { Fault } from '@vitrine/faults/fault';

/** Query parameters as express gives them: a text, or several when a parameter was repeated. */
export type QueryValues = Readonly<Record<string, unknown>>;

const DAY_MS = 86_400_000;
const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;
const TEXT_MAX_LENGTH = 1_024;

/** A text parameter; empty and absent are the same. Faults: `invalid_query`. */
export function readText(values: QueryValues, name: string): string | undefined {
  const value = values[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw invalid(`${name} must be given once`);
  if (value.length > TEXT_MAX_LENGTH) throw invalid(`${name} must be at most ${TEXT_MAX_LENGTH} characters`);
  return value;
}

/** A whole number from `min` to `max`. Faults: `invalid_query`. */
export function readInteger(values: QueryValues, name: string, min: number, max: number): number | undefined {
  const text = readText(values, name);
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,15}$/.test(text)) throw invalid(`${name} must be an integer`);
  const value = Number(text);
  if (value < min) throw invalid(`${name} must be >= ${min}`);
  if (value > max) throw invalid(`${name} must be <= ${max}`);
  return value;
}

/** `from` and `to`, both inclusive, in milliseconds since the epoch; a date-only `to` is the end of that day in UTC.
 *  Faults: `invalid_query`. */
export function readTimeRange(values: QueryValues): { from: number | undefined; to: number | undefined } {
  const from = readTime(values, 'from')?.at;
  const end = readTime(values, 'to');
  const to = end === undefined ? undefined : end.isDate ? end.at + DAY_MS - 1 : end.at;
  if (from !== undefined && to !== undefined && to < from) throw invalid('to must be greater than or equal to from');
  return { from, to };
}

function readTime(values: QueryValues, name: string): { at: number; isDate: boolean } | undefined {
  const text = readText(values, name);
  if (text === undefined) return undefined;
  const isDate = DATE_ONLY.test(text);
  const at = isDate || RFC3339.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  // Date.parse takes the 30th of February for the 1st of March.
  const isReal = !Number.isNaN(at) && (!isDate || new Date(at).toISOString().startsWith(text));
  if (!isReal) throw invalid(`invalid ${name}: expected RFC3339 or YYYY-MM-DD`);
  return { at, isDate };
}

function invalid(say: string): Fault {
  return new Fault('invalid_query', { say });
}
