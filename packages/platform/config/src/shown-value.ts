const MAX_LENGTH = 64;
/** Names of keys with secret values, or lists of them. */
const SECRET = /(?:token|secret|pepper|salt|password|credential|key|dsn)s?$/i;

/** A configured value for an error message: `; got "80x"`. Empty for secrets, missing values, lists and objects. User and query of a URL are
 *  omitted, because they may contain credentials. */
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
