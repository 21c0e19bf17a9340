import { codeOf } from '@vitrine/faults/fault';
import { UPSTREAM_ERRORS, type UpstreamErrorClass } from '@vitrine/traces/upstream-error';

/** Why there is no complete response: a class of upstream failure, or a cause in the gateway or its client. */
const UPSTREAM_ERROR_CODES = [
  ...UPSTREAM_ERRORS,
  /** The request's body ended early because its sender left. */
  'request_aborted',
  /** A bug in the gateway: the request cannot be written, or its response cannot be forwarded. */
  'request_failed',
] as const;
type UpstreamErrorCode = UpstreamErrorClass | 'request_aborted' | 'request_failed';

/** What ends an exchange with a provider. Its message is shown as `upstream_error_detail`: short, latin-1, without any bytes that the
 *  provider has sent, which may be parts of a body. */
export interface UpstreamError extends Error {
  readonly code: UpstreamErrorCode;
}

export function upstreamError(code: UpstreamErrorCode, message: string, cause?: unknown): UpstreamError {
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), { code });
}

export function malformed(what: string): UpstreamError {
  return upstreamError('malformed_response', what);
}

export function isUpstreamError(error: unknown): error is UpstreamError {
  const code = codeOf(error);
  return UPSTREAM_ERROR_CODES.some((known) => known === code);
}
