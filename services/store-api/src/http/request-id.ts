import { createId } from '@vitrine/stores/identifiers';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { REQUEST_ID } from '../contract/headers.ts';

/** The id that the client sent, where it follows the rule; else a new one. Spec: S3.8. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : newRequestId();
}

export function newRequestId(): string {
  return createId('req', Date.now(), randomBytes);
}
