import type { ErrorCode, ErrorResponse } from '@vitrine/stores/resources/error-response';
import type { Operation } from './operation.ts';

/** Whether and how a client can retry after an error. */
export type Retry = 'never' | 'with_other_input' | 'once_after_seconds' | 'after_retry_after' | 'after_reset_at';

interface ErrorRule {
  readonly status: number;
  /** Errors are never billed. */
  readonly billed: false;
  readonly retry: Retry;
  readonly description: string;
}

const rule = (status: number, retry: Retry, description: string): ErrorRule => ({ status, billed: false, retry, description });

/** The one table of error codes: status, billing and retry. Spec: S7.1 to S7.3. */
export const ERROR_RULES: Readonly<Record<ErrorCode, ErrorRule>> = {
  invalid_request: rule(400, 'with_other_input', 'Body or parameters failed validation; the message names the field.'),
  unauthorized: rule(401, 'never', 'The key is missing, malformed, revoked or expired.'),
  payment_required: rule(
    402,
    'after_reset_at',
    'The allowance of the billing period is used up; reset_at is the time of the reset. Without it the plan has no such units in any period.',
  ),
  forbidden_scope: rule(403, 'never', 'The key lacks the scope of the operation.'),
  not_found: rule(404, 'with_other_input', 'No such route, technology or store. The site may still be a store.'),
  conflict: rule(409, 'with_other_input', 'The Idempotency-Key was used for another operation or input.'),
  rate_limited: rule(429, 'after_retry_after', 'Too many requests for the key in this minute.'),
  internal: rule(500, 'once_after_seconds', 'A fault of the service, or the request exceeded the time bound.'),
  not_implemented: rule(501, 'never', 'The operation is defined but not served by this build.'),
  overloaded: rule(503, 'after_retry_after', 'The service is overloaded.'),
  concurrency_limited: rule(503, 'after_retry_after', 'Too many requests of the key are in flight.'),
};

/** Further statuses with the code `invalid_request`, for malformed requests that reach no operation. */
export const SERVER_STATUSES: Readonly<Record<number, string>> = {
  405: 'The path does not support the method; `Allow` lists those that it supports.',
  408: 'The request did not arrive in time.',
  417: 'The expectation of the request cannot be met.',
  431: 'The headers are too large.',
};

/** Client codes of faults in this process. Every other fault is `internal`. */
export const FAULT_CODES: Readonly<Record<string, ErrorCode>> = {
  invalid_query: 'invalid_request',
  invalid_body: 'invalid_request',
  body_too_large: 'invalid_request',
  body_timeout: 'invalid_request',
};

/** The envelope of every error. Spec: S2.37. */
export function errorBody(code: ErrorCode, message: string, request_id: string, reset_at?: string): ErrorResponse {
  return { error: { code, message, request_id, ...(reset_at === undefined ? {} : { reset_at }) } };
}

/** A status that an operation may respond with. */
interface OperationOutcome {
  readonly status: number;
  /** '' for a success. */
  readonly code: ErrorCode | '';
}

/** Codes of every operation with a key. Includes 403 even if any scope suffices, because the contract is the same for all. */
const KEYED: readonly ErrorCode[] = ['unauthorized', 'forbidden_scope', 'rate_limited', 'overloaded', 'concurrency_limited'];

/** All responses of an operation. The OpenAPI document and the counters are derived from it. */
export function outcomesOf(operation: Operation): OperationOutcome[] {
  const { errors, scope, status, isConditional } = operation;
  const codes: ErrorCode[] = ['invalid_request', ...errors, ...(scope === 'none' ? [] : KEYED), 'internal'];
  return [
    { status, code: '' } as const,
    ...(isConditional === true ? [{ status: 304, code: '' } as const] : []),
    ...[...new Set(codes)].map((code) => ({ status: ERROR_RULES[code].status, code })),
    ...Object.keys(SERVER_STATUSES).map((serverStatus) => ({ status: Number(serverStatus), code: 'invalid_request' as const })),
  ].toSorted((a, b) => a.status - b.status);
}
