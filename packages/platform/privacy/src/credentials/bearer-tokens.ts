import type { Span } from '../text-edit.ts';

const BEARER = /bearer(?:[ \t+]|\\{1,15}t){1,8}([A-Za-z0-9._~+/-]+=*)/gi;
/** A token of this length counts anywhere. "The bearer of bad news" and "bearer bonds" have shorter words. Words of this length are redacted,
 *  because a token may consist of letters. */
const LENGTH_ANYWHERE = 6;
const LOOKED_BACK = 40;
/** The text before a header's value, a string or a parameter; after `authorization:` it is always a header. */
const AUTHORIZATION = /authorization\W{0,24}$/i;
const BEGINS_VALUE = /(?:^|[\r\n"'=&?;/]|\\[nrt])[ \t]{0,4}$/;
const ENDS_VALUE = /[\r\n"'&;,\\)\]}`]/;

/** Bearer tokens. A token of six characters counts anywhere. A shorter one counts if it is a complete value (of a header, a string or a line),
 *  after `authorization:`, or if it is not a word. */
export function findBearerTokens(text: string): Span[] {
  const found: Span[] = [];
  BEARER.lastIndex = 0;
  for (let match = BEARER.exec(text); match !== null; match = BEARER.exec(text)) {
    const end = BEARER.lastIndex;
    const start = end - (match[1] ?? '').length;
    if (isToken(text, match.index, start, end)) found.push({ start, end });
    // A slash is part of a token, so the next `Bearer` may be too: `Bearer a/Bearer b`.
    BEARER.lastIndex = Math.max(start, end - 'bearer'.length);
  }
  return found;
}

function isToken(text: string, bearer: number, start: number, end: number): boolean {
  const token = text.slice(start, end);
  // `Bearer realm="..."` is the challenge of a response that requires a token.
  if (/^[a-z_]+=$/i.test(token) && /["'\\]/.test(text[end] ?? '')) return false;
  const word = token.replace(/(?<!\.)\.+$/, '');
  if (word.length >= LENGTH_ANYWHERE) return true;
  if (word.length >= 3 && /\d|[~+/=_]|[a-z][A-Z]|\w\.\w/.test(word)) return true;
  if (word.toLowerCase() === 'token') return false;
  const before = text.slice(Math.max(0, bearer - LOOKED_BACK), bearer);
  if (AUTHORIZATION.test(before)) return true;
  const begins = bearer <= LOOKED_BACK ? BEGINS_VALUE.test(before) : BEGINS_VALUE.test(`-${before}`);
  return begins && (end === text.length || ENDS_VALUE.test(text[end] ?? ''));
}
