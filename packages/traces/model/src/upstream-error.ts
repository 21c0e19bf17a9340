/** Failures between the gateway and a provider. Each class has a row in docs/failure-modes.md. Spec: G11.15. */
export const UPSTREAM_ERRORS = [
  'dns',
  'connect_refused',
  'connect_timeout',
  'tls',
  'reset',
  'first_byte_timeout',
  'idle_timeout',
  'malformed_response',
] as const;
export type UpstreamErrorClass = (typeof UPSTREAM_ERRORS)[number];
