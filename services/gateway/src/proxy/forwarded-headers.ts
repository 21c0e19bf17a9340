/** Headers of the connection, not of the message. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];
const REQUEST_DROPPED = new Set([...HOP_BY_HOP, 'proxy-authorization', 'host', 'expect', 'cookie', 'http2-settings']);
const REQUEST_DROPPED_PREFIXES = ['x-svc-', 'x-forwarded-', 'proxy-'];
const RESPONSE_DROPPED = new Set([...HOP_BY_HOP, 'proxy-authenticate', 'set-cookie', 'x-svc-correlation-id']);

/** Header names as they come are few; what is decided of one is remembered, up to this many. */
const REMEMBERED_NAMES = 2_048;

/** Decides by name whether a header goes on, remembering the answer. */
function rememberedFilter(isDropped: (name: string) => boolean): (name: string) => boolean {
  const dropped = new Map<string, boolean>();
  return (name) => {
    const known = dropped.get(name);
    if (known !== undefined) return known;
    const answer = isDropped(name.toLowerCase());
    if (dropped.size < REMEMBERED_NAMES) dropped.set(name, answer);
    return answer;
  };
}

const dropsFromRequest = rememberedFilter(
  (name) => REQUEST_DROPPED.has(name) || REQUEST_DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix)),
);
const dropsFromResponse = rememberedFilter((name) => RESPONSE_DROPPED.has(name));

/** The headers (names and values in turn) that a request carries on to the provider: all but the connection's own and what
 *  `Connection` names, Host, Expect, cookies, the gateway's `X-Svc-*` and the client's `X-Forwarded-*`.
 *  Spec: gateway decisions, section 5. */
export function forwardedRequestHeaders(raw: readonly string[], connection: string | undefined): string[] {
  return forwarded(raw, connection, dropsFromRequest);
}

/** The headers that a provider's answer carries on to the client: all but the connection's own and `Set-Cookie`. */
export function forwardedResponseHeaders(raw: readonly (Buffer | string)[], connection: string | undefined): string[] {
  const texts: string[] = [];
  for (const part of raw) texts.push(typeof part === 'string' ? part : part.toString('latin1'));
  return forwarded(texts, connection, dropsFromResponse);
}

function forwarded(raw: readonly string[], connection: string | undefined, drops: (name: string) => boolean): string[] {
  const named = namedByConnection(connection);
  const kept: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? '';
    if (drops(name) || named?.has(name.toLowerCase()) === true) continue;
    kept.push(name, raw[i + 1] ?? '');
  }
  return kept;
}

function namedByConnection(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}
