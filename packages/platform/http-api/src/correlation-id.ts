import { scrub } from '@vitrine/privacy/scrub';
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Common request headers from which an id is accepted, after the service's own. */
const COMMON_HEADERS = ['x-request-id', 'x-correlation-id'];
/** The format of ids, both sent by clients and generated here. */
export const CORRELATION_ID: RegExp = /^[A-Za-z0-9\-_.:]{1,128}$/;

/** Returns a reader of a request's correlation id, for a service whose own header is `header`: the id that the client sent (at most 128
 *  characters `A-Za-z0-9-_.:`, and not a credential, which log and traces would redact), else a new one. */
export function correlationIdReader(header: string): (headers: IncomingHttpHeaders) => string {
  const names = [header.toLowerCase(), ...COMMON_HEADERS];
  return (headers) => {
    for (const name of names) {
      const sent = headers[name];
      if (typeof sent === 'string' && CORRELATION_ID.test(sent) && scrub(sent).count === 0) return sent;
    }
    return newCorrelationId();
  };
}

/** `corr-` and 32 hex digits. */
export function newCorrelationId(): string {
  return `corr-${randomUUID().replaceAll('-', '')}`;
}
