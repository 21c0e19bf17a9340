const MAX_LENGTH = 64;
/** Names of keys whose values are secrets, or lists of secrets. */
const SECRET = /(?:token|secret|pepper|salt|password|credential|key)s?$/i;

/** A configured value as an error text may show it: `; got "80x"`. Nothing for secrets, for what is not there and for what is not a
 *  plain value; of a URL neither user nor query, which may hold credentials. */
export function shownValue(path: readonly PropertyKey[], value: unknown): string {
  const name = path.findLast((key) => typeof key === 'string' && !/^\d+$/.test(key));
  if (value === undefined || typeof value === 'object' || SECRET.test(String(name))) return '';
  // JSON has no NaN.
  if (typeof value === 'number') return `; got ${value}`;
  if (typeof value !== 'string') return `; got ${JSON.stringify(value)}`;
  const isUrl = value.includes('://');
  const safe = isUrl ? value.replace(/\/\/[^/?#]*@/, '//***@').replace(/[?#].*$/s, '') : value;
  const cut = safe.length > MAX_LENGTH ? `${safe.slice(0, MAX_LENGTH)}...` : safe;
  return `; got ${JSON.stringify(cut)}`;
}
