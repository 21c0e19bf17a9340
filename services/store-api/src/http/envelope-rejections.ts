import type { RejectionFormat } from '@vitrine/http-api/rejection-format';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import { errorBody } from '../contract/error-body.ts';
import { ERROR_RULES } from '../contract/error-codes.ts';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import { newRequestId, requestIdOf } from './request-id.ts';

/** The envelope for what is rejected before it is a request of this API: messages that cannot be parsed among them. */
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
