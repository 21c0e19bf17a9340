import { isSecretHeader } from '@vitrine/privacy/header-lines';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeaderReaders } from './forwarded-headers.ts';

/** Headers that a recipient needs before the body, or must not find after it. Source: RFC 9110, section 6.5.1. */
const NEVER_TRAILERS = new Set(
  `age cache-control content-encoding content-length content-range content-type date expires location max-forwards pragma range
  retry-after trailer vary warning www-authenticate`.split(/\s+/),
);

/** The trailers of a request or a response that are forwarded: those whose headers would be, except credentials and what may not be a trailer.
 *  `raw` and the result: alternating names and values. Spec: G11.28. */
export function forwardedTrailers(
  read: HeaderReaders['request'],
  raw: readonly string[],
  connection: string | undefined,
): readonly string[] {
  if (raw.length === 0) return raw;
  const { forwarded } = read(raw, connection);
  return forwarded.filter((_, at) => mayBeTrailer(forwarded[at - (at % 2)]?.toLowerCase() ?? ''));
}

function mayBeTrailer(name: string): boolean {
  return !NEVER_TRAILERS.has(name) && !name.startsWith('if-') && !isSecretHeader(name);
}

/** Whether a client needs the trailers of its response, and gets them. */
export function acceptsTrailers({ headers: { te } }: IncomingMessage, response: ServerResponse): boolean {
  return te !== undefined && String(te).toLowerCase().includes('trailers') && response.useChunkedEncodingByDefault;
}
