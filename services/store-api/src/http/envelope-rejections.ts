import type { RejectionFormat } from '@vitrine/http-api/rejection';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import { errorBody, ERROR_RULES, FAULT_CODES } from '../contract/error-codes.ts';
import { REQUEST_ID_HEADER, REQUEST_ID } from '../contract/headers.ts';
import { createId } from '@vitrine/stores/identifiers';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { codeOf, isFault } from '@vitrine/faults/fault';
import { isOverload } from '@vitrine/postgres/postgres-error';
import { rejection, type ApiRejection } from '../contract/operation.ts';
import { REQUEST_TIMEOUT_MS, tooLate } from './request-deadline.ts';

/** The error envelope for requests that are rejected before routing, including messages that cannot be parsed. */
export const ENVELOPE_REJECTIONS: RejectionFormat = {
  correlationHeader: REQUEST_ID_HEADER,
  correlationIdOf: requestIdOf,
  newCorrelationId: newRequestId,
  bodyOf: ({ status, error }, id) => errorBody(codeOfStatus(status), error, id),
};

/** A message that no service can serve, such as one of HTTP/2 (505), is the client's fault. */
function codeOfStatus(status: number): ErrorCode {
  const codes = Object.keys(ERROR_RULES) as ErrorCode[];
  return codes.find((code) => ERROR_RULES[code].status === status) ?? 'invalid_request';
}

/** The id that the client sent, if it is valid; else a new one. Spec: S3.8. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : newRequestId();
}

function newRequestId(): string {
  return createId('req', Date.now(), randomBytes);
}

/** Faults whose message is sent to the client; of others it learns only that the service failed. */
const CLIENT_VISIBLE_FAULTS: ReadonlySet<string> = new Set(['deadline_exceeded', 'billing_unknown', 'key_unverifiable']);
const OVERLOADED = 'The service is overloaded; retry after a second.';

/** A statement that was cancelled, or did not get its lock, after 10 s: the time bound as the database keeps it. */
const STATEMENT_TIMEOUTS: ReadonlySet<string> = new Set(['57014', '55P03']);

/** What an error is to a client. `isAdmitted`: whether the request has begun; one that waited for its admission until its time was over was one too
 *  many. Spec: S6.5, S6.21. */
export function rejectionOfError(error: unknown, isAdmitted: boolean): ApiRejection {
  if (STATEMENT_TIMEOUTS.has(codeOf(error))) return rejectionOfError(tooLate(REQUEST_TIMEOUT_MS, error), isAdmitted);
  const isLate = codeOf(error) === 'deadline_exceeded';
  if (codeOf(error) === 'overloaded' || isOverload(error) || (isLate && !isAdmitted))
    return rejection('overloaded', OVERLOADED, { headers: ['Retry-After', '1'], cause: error });
  const code = FAULT_CODES[codeOf(error)];
  const details = codeOf(error) === 'body_timeout' ? { status: 408, headers: ['Connection', 'close'] } : {};
  if (code !== undefined && isFault(error)) return rejection(code, error.say, details);
  const isVisible = isFault(error) && CLIENT_VISIBLE_FAULTS.has(error.code);
  const message = isVisible ? error.say : 'The service failed; retry once after a few seconds.';
  // Another replica may be able to verify it.
  const again = codeOf(error) === 'key_unverifiable' ? { status: 503, headers: ['Retry-After', '5'] } : {};
  return rejection('internal', message, { cause: error, reason: codeOf(error), ...again });
}
