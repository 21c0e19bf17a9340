import { SECRET_HEADERS } from '@vitrine/privacy/header-lines';
import { LINEAGE_HEADERS } from '@vitrine/traces/lineage-headers';

/** The default, and that of `ongoingai/gateway`. */
const KEY_HEADERS: ReadonlySet<string> = new Set(['x-svc-gateway-key', 'x-ongoingai-gateway-key']);

/** Headers of HTTP itself, which a request needs for their own purpose, or of which Node keeps only the first when one is repeated: a key
 *  there would break the request, or its position in the message would decide which key counts. */
const HTTP_HEADERS = new Set(
  `accept accept-charset accept-encoding accept-language age cache-control connection content-encoding content-length
  content-type date etag expect expires forwarded from host http2-settings if-match if-modified-since if-none-match if-range
  if-unmodified-since keep-alive last-modified location max-forwards origin pragma range referer retry-after server te trailer
  transfer-encoding upgrade user-agent via traceparent tracestate baggage`.split(/\s+/),
);
/** Headers of the gateway, which are echoed, logged or stored as they come. */
const GATEWAY_HEADERS = new Set([
  'x-request-id',
  'x-correlation-id',
  'x-svc-correlation-id',
  ...Object.values(LINEAGE_HEADERS).map((name) => name.toLowerCase()),
]);
const PREFIXES = ['proxy-', 'sec-', 'access-control-', 'x-forwarded-'];

/** Why a header cannot carry gateway keys; undefined when it can. Spec: G9.3. */
export function keyHeaderError(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(lower)) return 'must be a header name of at most 64 characters';
  if (SECRET_HEADERS.has(lower) && !KEY_HEADERS.has(lower)) return 'must not be a header that carries another secret';
  if (HTTP_HEADERS.has(lower) || PREFIXES.some((prefix) => lower.startsWith(prefix)))
    return 'must not be a header of HTTP itself';
  return GATEWAY_HEADERS.has(lower) ? 'must not be a header that the gateway reads for something else' : undefined;
}
