import type { RejectionFormat } from '@vitrine/http-api/rejection';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import { errorBody, ERROR_RULES } from '../contract/error-codes.ts';
import { REQUEST_ID_HEADER, REQUEST_ID } from '../contract/headers.ts';
import { createId } from '@vitrine/stores/identifiers';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The error envelope for requests that are rejected before routing, including messages that cannot be parsed. */
export const ENVELOPE_REJECTIONS: RejectionFormat = {
  correlationHeader: REQUEST_ID_HEADER,
  correlationIdOf: requestIdOf,
  newCorrelationId: newRequestId,
  bodyOf: ({ status, error }, id) => errorBody(codeOfStatus(status), error, id),
};

function codeOfStatus(status: number): ErrorCode {
  const codes = Object.keys(ERROR_RULES) as ErrorCode[];
  return codes.find((code) => ERROR_RULES[code].status === status) ?? (status < 500 ? 'invalid_request' : 'internal');
}

/** The id that the client sent, if it is valid; else a new one. Spec: S3.8. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : newRequestId();
}

function newRequestId(): string {
  return createId('req', Date.now(), randomBytes);
}
