import { codeOf, messageOf } from '@vitrine/faults/fault';
import type { AttemptReason } from '@vitrine/stores/scans/finish-scan-job';

/** Why a request got no usable response. Thrown and caught only inside this folder. */
export class FetchError extends Error {
  readonly reason: AttemptReason;
  readonly retryAfterMs: number | undefined;
  /** Bot defences and throttling block a scan. All other errors fail it. */
  readonly isBlock: boolean;

  constructor(
    reason: AttemptReason,
    message: string,
    { cause, retryAfterMs, isBlock }: { cause?: unknown; retryAfterMs?: number | undefined; isBlock?: boolean } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'FetchError';
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.isBlock = isBlock ?? ['challenged', 'throttled', 'robots_denied'].includes(reason);
  }
}

const TIMED_OUT = /TIMEOUT|^ETIMEDOUT$|^ABORT_ERR$/;
const NO_CONNECTION = /^(?:ECONN|EHOST|ENET|EPIPE|EADDR|EACCES|UND_ERR_(?:SOCKET|CLOSED|DESTROYED))/;
const TLS = /CERT|^ERR_(?:TLS|SSL)|^EPROTO$|^UNABLE_TO_|ISSUER|SELF_SIGNED|SIGNATURE/;

/** Converts an error of the network or of the HTTP client. */
export function toFetchError(error: unknown): FetchError {
  if (error instanceof FetchError) return error;
  const name = typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';
  const code = codeOf(error);
  const said = `${code === '' ? '' : `${code}: `}${messageOf(error)}`.slice(0, 200);
  if (name === 'TimeoutError' || name === 'AbortError' || TIMED_OUT.test(code))
    return new FetchError('timed_out', said, { cause: error });
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW')
    return new FetchError('too_large', 'response headers are too large', { cause: error });
  if (/^HPE_|UND_ERR_(?:RES_CONTENT_LENGTH|INFO|REQ_)|UND_ERR_INVALID/.test(code) || name === 'HTTPParserError')
    return new FetchError('http_error', `malformed response: ${said}`, { cause: error });
  if (TLS.test(code)) return new FetchError('tls', said, { cause: error });
  if (NO_CONNECTION.test(code)) return new FetchError('connect', said, { cause: error });
  return new FetchError('internal', said, { cause: error });
}

const MAX_URL_LENGTH = 2_048;
const PORTS = new Set(['', '80', '443']);

/** A URL that may be requested: http or https, ports 80 and 443 only, without userinfo and fragment. Throws FetchError with this reason. */
export function checkUrl(text: string, base: URL | undefined, reason: 'refused_redirect' | 'internal'): URL {
  const shown = text.slice(0, 200);
  if (text.length > MAX_URL_LENGTH) throw new FetchError(reason, `the address ${shown}... is longer than ${MAX_URL_LENGTH}`);
  const url = URL.parse(text, base?.href);
  if (url === null) throw new FetchError(reason, `${shown} is not a URL`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new FetchError(reason, `${shown} is neither http nor https`);
  if (!PORTS.has(url.port)) throw new FetchError(reason, `${shown} has a port other than 80 and 443`);
  url.username = '';
  url.password = '';
  url.hash = '';
  return url;
}

/** Where a redirect leads. Throws FetchError `refused_redirect`, also for a redirect from https to http. */
export function checkRedirect(location: string, from: URL): URL {
  const url = checkUrl(location, from, 'refused_redirect');
  if (from.protocol === 'https:' && url.protocol === 'http:')
    throw new FetchError('refused_redirect', `${from.host} redirects from https to http`);
  return url;
}
