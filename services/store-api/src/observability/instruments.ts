import { counter, gauge, histogram } from '@vitrine/telemetry/metrics/instrument';

/** Counted for every request, outside the SDK. */
export const REQUEST_INSTRUMENTS = {
  requests: counter(
    'svc.store_api.request_total',
    '{request}',
    'Requests by operation, status and error code; status 0: the client left before the response.',
    ['operation', 'status', 'code'],
  ),
  duration: histogram(
    'svc.store_api.request_duration_seconds',
    's',
    'From the head of a request to its response, by operation.',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ['operation'],
  ),
};

/** Metrics of admission and billing. */
export const BILLING_INSTRUMENTS = {
  billed: counter('svc.store_api.units_billed_total', '{unit}', 'Units written to the ledger, by billing unit.', ['unit']),
  replays: counter('svc.store_api.replay_total', '{request}', 'Responses that an Idempotency-Key replayed; nothing is billed.'),
  rejections: counter('svc.store_api.rejection_total', '{request}', 'Requests that were not admitted, by reason.', ['reason']),
  deadlines: counter(
    'svc.store_api.deadline_exceeded_total',
    '{request}',
    'Requests that took longer than 10 s; nothing is billed.',
  ),
  billingUnknown: counter(
    'svc.store_api.billing_unknown_total',
    '{request}',
    'Requests that received 500 and may have been billed, because the database was lost at their commit.',
  ),
  clientsLeft: counter('svc.store_api.client_left_total', '{request}', 'Requests whose client left before its response.'),
  releaseFailures: counter(
    'svc.store_api.release_failed_total',
    '{request}',
    'Slots of requests in flight that could not be freed; each is free after its lease of 15 s.',
  ),
};

/** Metrics of client connections. */
export const CONNECTION_INSTRUMENTS = {
  connections: gauge('svc.store_api.connections', '{connection}', 'Open connections from clients.'),
  connectionLimit: gauge('svc.store_api.connection_limit', '{connection}', 'Maximum of open connections from clients.'),
  connectionsClosed: counter(
    'svc.store_api.connection_closed_total',
    '{connection}',
    'Connections that the server closed or did not accept, by reason.',
    ['reason'],
  ),
};

/** Metrics of bounds before a request gets a connection. */
export const ADMISSION_INSTRUMENTS = {
  used: gauge('svc.store_api.bound_used', '{use}', 'Use of a bound; for workspaces and batches, by the busiest.', ['bound']),
  limit: gauge('svc.store_api.bound_limit', '{use}', 'The bound.', ['bound']),
  waiting: gauge('svc.store_api.bound_waiting', '{request}', 'Requests waiting because of a bound.', ['bound']),
  overloaded: counter('svc.store_api.overloaded_total', '{request}', 'Requests that received 503 overloaded, by bound.', [
    'bound',
  ]),
  delayed: counter('svc.store_api.refusal_delayed_total', '{request}', 'Refusals that were delayed because there were many.'),
  suppressed: counter(
    'svc.store_api.log_line_suppressed_total',
    '{line}',
    'Log lines of unauthenticated requests that were not written because there were many.',
  ),
};
