import { codeOf } from '@vitrine/faults/fault';

/** Why a provider gave no whole answer. */
export const UPSTREAM_ERRORS = [
  'connect_timeout',
  'connection_lost',
  'malformed_response',
  /** It could not be sent, or broke off. */
  'request_failed',
] as const;
export type UpstreamErrorCode = (typeof UPSTREAM_ERRORS)[number];

/** What ends an exchange with a provider. It is told to that exchange, and to nobody else. */
export interface UpstreamError extends Error {
  readonly code: UpstreamErrorCode;
}

export function upstreamError(code: UpstreamErrorCode, message: string, cause?: unknown): UpstreamError {
  return Object.assign(new Error(message, { cause }), { code });
}

export function malformed(what: string): UpstreamError {
  return upstreamError('malformed_response', what);
}

export function isUpstreamError(error: unknown): error is UpstreamError {
  const code = codeOf(error);
  return UPSTREAM_ERRORS.some((known) => known === code);
}
