import { scrub } from '@vitrine/privacy/scrub';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The header that every answer carries. Spec: gateway, What the service does. */
export const CORRELATION_HEADER = 'X-Svc-Correlation-ID';

const ACCEPTED_FROM = ['x-svc-correlation-id', 'x-request-id', 'x-correlation-id'] as const;
/** What ids look like, those that clients send and those that are made here. */
export const CORRELATION_ID: RegExp = /^[A-Za-z0-9\-_.:]{1,128}$/;

const process16 = randomBytes(8).toString('hex');
let made = 0;

/** The id that a client sent (of at most 128 characters `A-Za-z0-9-_.:`, and no credential, which the log and the trace would hide),
 *  else a new one: `corr-` and 32 hex digits. New ids are
 *  unique, not secret: a random half for the process and a counter cost a tenth of 16 random bytes a request. */
export function correlationIdOf(headers: IncomingHttpHeaders): string {
  for (const name of ACCEPTED_FROM) {
    const sent = headers[name];
    if (typeof sent === 'string' && CORRELATION_ID.test(sent) && scrub(sent).count === 0) return sent;
  }
  return newCorrelationId();
}

export function newCorrelationId(): string {
  made += 1;
  return `corr-${process16}${made.toString(16).padStart(16, '0')}`;
}
