/** Which status a fault is answered with. Every code has a heading in docs/failure-modes.md. Spec: gateway, Errors. */
const STATUSES: Readonly<Record<string, number>> = {
  unauthorized: 401,
  forbidden: 403,
  key_verification_unavailable: 503,
  invalid_query: 400,
  invalid_body: 400,
  body_too_large: 413,
  gateway_key_not_found: 404,
  gateway_key_exists: 409,
  gateway_key_token_exists: 409,
  gateway_key_managed: 409,
  gateway_keys_full: 409,
  gateway_keys_read_only: 501,
  key_store_unavailable: 503,
  pepper_unusable: 503,
  too_many_groups: 400,
  trace_not_found: 404,
  checkpoint_not_found: 404,
  foreign_checkpoint: 400,
  last_checkpoint: 400,
  trace_store_unavailable: 503,
};

export function statusOf(code: string): number {
  return STATUSES[code] ?? 500;
}

/** Refusals whose status is a server's: nothing has failed that is not logged elsewhere. A key of the file is changed in the file; a denial is
 *  logged as one, and why keys cannot be verified by whoever refreshes them. */
const REFUSALS = new Set(['gateway_keys_read_only', 'key_verification_unavailable']);

/** Whether a fault is an expected answer to its caller, and no failure of ours. */
export function isRefusal(code: string): boolean {
  return statusOf(code) < 500 || REFUSALS.has(code);
}
