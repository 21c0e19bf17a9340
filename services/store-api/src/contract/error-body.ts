import type { ErrorCode, ErrorResponse } from '@vitrine/stores/resources/error-response';

/** The envelope of every error. Spec: S2.37. */
export function errorBody(code: ErrorCode, message: string, request_id: string, reset_at?: string): ErrorResponse {
  return { error: { code, message, request_id, ...(reset_at === undefined ? {} : { reset_at }) } };
}
