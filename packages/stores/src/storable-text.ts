/** Whether the database can hold a text: Postgres refuses U+0000, and in JSON half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

export const STORABLE_RULE = 'must be well-formed Unicode without U+0000';
