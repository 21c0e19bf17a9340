/** Why a scan that was blocked or failed is no observation. The `error` of its job begins with the reason and a colon. */
export const ATTEMPT_REASONS = [
  'challenged',
  'throttled',
  'robots_denied',
  'robots_unavailable',
  'refused_address',
  'refused_redirect',
  'dns',
  'connect',
  'tls',
  'timed_out',
  'too_large',
  'http_error',
  'not_html',
  'denylisted',
  'internal',
] as const;
export type AttemptReason = (typeof ATTEMPT_REASONS)[number];
