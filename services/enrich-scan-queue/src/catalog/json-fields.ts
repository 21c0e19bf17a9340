/** Readers for JSON that a storefront sent. A value of an unexpected type is null, never an error. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** Undefined if the value is not a list. Items that are not objects are omitted. */
export function objectsOf(value: unknown): readonly JsonObject[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map(objectOf).filter((item) => Object.keys(item).length > 0);
}

/** Trimmed, at most 300 characters; null when empty. */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return value.trim().slice(0, 300) || null;
}

/** Ids are texts or integers. */
export function idOf(value: unknown): string | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : textOf(value);
}

/** A number, or a numeric string such as `"19.90"`. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,15}(?:\.\d{1,6})?$/.test(value.trim()) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** A count: an integer of at least 0. */
export function countOf(value: unknown): number | null {
  const number = numberOf(value);
  return number !== null && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** An upper-case currency code in the form of ISO 4217. */
export function currencyOf(value: unknown): string | null {
  const text = textOf(value)?.toUpperCase();
  return text !== undefined && /^[A-Z]{3}$/.test(text) ? text : null;
}

export const textsOf = (...values: readonly unknown[]): string[] => values.map(textOf).filter((text) => text !== null);

/** The first 20 items of a list. Empty for a value that is not a list. */
export function labelsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 20) : [];
}

/** The names of the first 20 objects of a list. */
export const namesOf = (value: unknown): unknown[] => (objectsOf(value) ?? []).slice(0, 20).map(({ name }) => name);

/** The address of a page, built from the part that the endpoint states; null without one. */
export function addressOf(value: unknown, prefix = '', suffix = ''): string | null {
  return typeof value === 'string' && value !== '' ? `${prefix}${value}${suffix}` : null;
}
