/** Which status a fault is answered with. Every code has a heading in docs/failure-modes.md. Spec: gateway, Errors. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_query: 400,
  invalid_body: 400,
  body_too_large: 413,
  trace_not_found: 404,
  trace_store_unavailable: 503,
};

export function statusOf(code: string): number {
  return STATUSES[code] ?? 500;
}
