/** Whether the database can store a text: Postgres refuses U+0000, and lone surrogates in JSON. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

export const STORABLE_RULE = 'must be well-formed Unicode without U+0000';

const REPLACEMENT = '\uFFFD';

/** The same value with U+FFFD for characters that the database cannot store, in texts and field names. Accepts plain JSON values. */
export function storable<T>(value: T): T {
  return storableValue(value) as T;
}

function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return isStorableText(value) ? value : value.toWellFormed().replaceAll('\0', REPLACEMENT);
  if (Array.isArray(value)) return value.map(storableValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [storable(name), storableValue(item)]));
}
