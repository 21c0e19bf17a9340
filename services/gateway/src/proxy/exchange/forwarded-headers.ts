import { isSecretHeader, REDACTED, SECRET_HEADERS } from '@vitrine/privacy/header-lines';

/** Headers of the connection, not of the message. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade'];
/** Announces trailers, and is forwarded with them. */
const TRAILER = 'trailer';
/** Clients of `ongoingai/gateway` send their keys in this header. Spec: G11.18. */
const OLD_KEY_HEADER = 'x-ongoingai-gateway-key';
const REQUEST_DROPPED = new Set([...HOP_BY_HOP, 'host', 'expect', 'cookie', 'http2-settings', OLD_KEY_HEADER]);
const REQUEST_DROPPED_PREFIXES = ['x-svc-', 'x-forwarded-', 'proxy-'];
const RESPONSE_DROPPED = new Set([...HOP_BY_HOP, 'proxy-authenticate', 'set-cookie', 'x-svc-correlation-id']);

/** Few distinct header names occur in practice. Decisions are cached for up to this many names. */
const REMEMBERED_NAMES = 2_048;

// How to treat a header, as bits.
const DROPPED = 1;
const SECRET = 2;
const OWN = 4;
const ANNOUNCES_TRAILERS = 8;

/** A message's headers, read once. */
export interface ReadHeaders {
  /** Alternating names and values of the forwarded headers. */
  readonly forwarded: string[];
  /** Header lines of all received headers with secrets hidden, for the trace. */
  readonly stored: string;
  readonly secrets: number;
  /** Whether it contains one of the gateway's own `X-Svc-*` headers other than the key. */
  readonly hasOwn: boolean;
}

/** `mayTrail`: trailers may follow the forwarded message, so that the header which announces them is forwarded. */
type ReadRawHeaders = (raw: readonly string[], connection: string | undefined, mayTrail?: boolean) => ReadHeaders;

/** Reads headers for a gateway with a certain key header. */
export interface HeaderReaders {
  /** Reads a request's raw headers. All are forwarded to the provider except hop-by-hop headers, headers named by `Connection`, Host, Expect,
   *  cookies, the gateway key, the gateway's `X-Svc-*` and the client's `X-Forwarded-*`. Spec: G6.3, G11.3. */
  readonly request: ReadRawHeaders;
  /** Reads a response's raw headers. All but the hop-by-hop headers and `Set-Cookie` are forwarded to the client. Spec: G11.4. */
  readonly response: ReadRawHeaders;
}

/** W3C Trace Context: with spans on, the upstream gets the gateway's own. Spec: G11.14. */
export const TRACE_CONTEXT_HEADERS = ['traceparent', 'tracestate'] as const;

/** The readers of a gateway whose keys are in `keyHeader`, which is never forwarded or stored, with authentication on or off. `alsoDropped`:
 *  further request headers that are not forwarded, in lower case. */
export function headerReaders(keyHeader: string, alsoDropped: readonly string[] = []): HeaderReaders {
  const key = keyHeader.toLowerCase();
  const dropped = new Set([...REQUEST_DROPPED, ...alsoDropped]);
  const isDropped = (name: string) =>
    name === key || dropped.has(name) || REQUEST_DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix));
  const shapes = specialShapes([key, ...dropped, ...RESPONSE_DROPPED, ...SECRET_HEADERS, TRAILER]);
  const ofRequest = rememberedActions(isDropped, key);
  const ofResponse = rememberedActions((name) => RESPONSE_DROPPED.has(name), key);
  const requestActions = (name: string) => (isPlain(name, shapes) ? 0 : ofRequest(name));
  const responseActions = (name: string) => (isPlain(name, shapes) ? 0 : ofResponse(name));
  return {
    request: (raw, connection, mayTrail) => readHeaders(raw, connection, mayTrail, requestActions),
    response: (raw, connection, mayTrail) => readHeaders(raw, connection, mayTrail, responseActions),
  };
}

function readHeaders(
  raw: readonly string[],
  connection: string | undefined,
  mayTrail = false,
  actionsOf: (name: string) => number,
): ReadHeaders {
  const dropped = mayTrail ? DROPPED : DROPPED | ANNOUNCES_TRAILERS;
  const named = namedByConnection(connection);
  const forwarded: string[] = [];
  let stored: string[] | undefined;
  let secrets = 0;
  let hasOwn = false;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? '';
    const value = raw[i + 1] ?? '';
    const actions = actionsOf(name);
    if ((actions & SECRET) !== 0) {
      stored ??= [...raw];
      stored[i + 1] = REDACTED;
      secrets += 1;
    }
    if ((actions & OWN) !== 0) hasOwn = true;
    if ((actions & dropped) === 0 && named?.has(name.toLowerCase()) !== true) forwarded.push(name, value);
  }
  return { forwarded, stored: (stored ?? raw).join('\n'), secrets, hasOwn };
}

// Most headers are forwarded and stored unchanged, and a name with such a first letter and length needs no further check. Reading a
// table of them costs a quarter of hashing a fresh string: 0.5 µs less for a message of fourteen headers.
function specialShapes(names: readonly string[]): Uint8Array {
  const shapes = new Uint8Array(32 * 64);
  for (const name of names) shapes[shapeOf(name)] = 1;
  return shapes;
}

function shapeOf(name: string): number {
  return (name.charCodeAt(0) & 31) * 64 + (name.length & 63);
}

/** Whether a header's name needs no further check. Prefixes are recognised by their first letters: `x-sv`, `x-fo` and `p`. */
function isPlain(name: string, shapes: Uint8Array): boolean {
  const first = name.charCodeAt(0) | 0x20;
  if (first === 0x70) return false;
  if (first === 0x78) {
    const third = name.charCodeAt(2) | 0x20;
    const fourth = name.charCodeAt(3) | 0x20;
    if ((third === 0x73 && fourth === 0x76) || (third === 0x66 && fourth === 0x6f)) return false;
  }
  return shapes[shapeOf(name)] === 0;
}

/** Decides by name how to treat a header, and caches the decision. */
function rememberedActions(isDropped: (name: string) => boolean, keyHeader: string): (name: string) => number {
  const known = new Map<string, number>();
  return (name) => {
    const remembered = known.get(name);
    if (remembered !== undefined) return remembered;
    const lower = name.toLowerCase();
    const isSecret = lower === keyHeader || isSecretHeader(lower);
    const actions =
      (isDropped(lower) ? DROPPED : 0) |
      (isSecret ? SECRET : 0) |
      (lower.startsWith('x-svc-') && !isSecret ? OWN : 0) |
      (lower === TRAILER ? ANNOUNCES_TRAILERS : 0);
    if (known.size < REMEMBERED_NAMES) known.set(name, actions);
    return actions;
  };
}

function namedByConnection(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}
