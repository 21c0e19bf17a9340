import { counter, gauge, histogram } from '@vitrine/telemetry/metrics/instrument';

const SCOPE = ['provider', 'model', 'org_id', 'workspace_id', 'route'];
const SCOPE_AND_STATUS = [...SCOPE, 'status_code'];
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const GENAI = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'];
const GENAI_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const GENAI_TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** The trace queue's own figures. */
export const QUEUE_INSTRUMENTS = {
  depth: gauge('svc.trace.queue_depth', '{trace}', 'Traces that are queued or being written.'),
  capacity: gauge('svc.trace.queue_capacity', '{trace}', 'Capacity of the queue in traces.'),
  enqueued: counter('svc.trace.enqueued_total', '{trace}', 'Traces taken by the queue.'),
};

/** Counted for every request, in `RequestSeries`. */
export const REQUEST_INSTRUMENTS = {
  queueDropped: counter(
    'svc.trace.queue_dropped_total',
    '{trace}',
    'Traces dropped because the queue was full.',
    SCOPE_AND_STATUS,
  ),
  providerRequests: counter('svc.provider.request_total', '{request}', 'Requests sent to a provider.', SCOPE_AND_STATUS),
  providerDuration: histogram(
    'svc.provider.request_duration_seconds',
    's',
    'Time from sending a request to a provider to the end of its response.',
    REQUEST_SECONDS,
    SCOPE,
  ),
  proxyRequests: counter('svc.proxy.request_total', '{request}', 'Requests that the gateway responded to.', SCOPE_AND_STATUS),
  proxyDuration: histogram(
    'svc.proxy.request_duration_seconds',
    's',
    'Time from receiving a request to the end of its response.',
    REQUEST_SECONDS,
    SCOPE,
  ),
};

/** Exchanges whose cost or usage is not known. Spec: G14.35. */
export const UNKNOWN_INSTRUMENTS = {
  unknown: counter(
    'svc.trace.unknown_usage_total',
    '{trace}',
    'Traces without a price, with a cost that is only in part known to be due, or without a usage though they may be charged.',
    ['provider', 'kind'],
  ),
};

/** Counts labels beyond their bounds. */
export const LABEL_INSTRUMENTS = {
  collapsed: counter(
    'svc.telemetry.labels_collapsed_total',
    '{request}',
    'Requests whose label became "other" because there are too many: model names, or sets of labels.',
    ['label'],
  ),
};

/** Time to process one exchange. */
export const BODY_INSTRUMENTS = {
  omitted: counter(
    'svc.trace.bodies_omitted_total',
    '{trace}',
    'Traces without bodies because the work on their exchange took longer than 50 ms.',
  ),
};

/** The connections of clients to the gateway. */
export const CONNECTION_INSTRUMENTS = {
  open: gauge('svc.server.connections', '{connection}', 'Open client connections.'),
  limit: gauge('svc.server.connection_limit', '{connection}', 'Maximum of open client connections: server.max_connections.'),
  closed: counter(
    'svc.server.connections_closed_total',
    '{connection}',
    'Client connections that the gateway refused or ended, by reason.',
    ['reason'],
  ),
};

/** The connections of the gateway to providers. */
export const UPSTREAM_INSTRUMENTS = {
  retries: counter(
    'svc.provider.retry_total',
    '{request}',
    'Requests that were sent again because their provider had closed a reused connection.',
    ['provider'],
  ),
};

/** Plans of rows or of a mounted folder. */
export const PLAN_INSTRUMENTS = {
  generation: gauge(
    'svc.plans.applied_generation',
    '{generation}',
    'Generation of the plans that apply: gateways that differ for longer than a few seconds have not all read the last change.',
  ),
};

/** Metrics of the GenAI semantic conventions, recorded when `observability.otel.genai` is on.
 *  Source: open-telemetry/semantic-conventions-genai, status Development. */
export const GENAI_INSTRUMENTS = {
  operationDuration: histogram('gen_ai.client.operation.duration', 's', 'GenAI operation duration.', GENAI_SECONDS, [
    ...GENAI,
    'error.type',
  ]),
  timeToFirstChunk: histogram(
    'gen_ai.client.operation.time_to_first_chunk',
    's',
    'Time from the request to the first chunk of a streamed response.',
    GENAI_SECONDS,
    GENAI,
  ),
  tokenUsage: histogram('gen_ai.client.token.usage', '{token}', 'Number of input and output tokens used.', GENAI_TOKENS, [
    ...GENAI,
    'gen_ai.token.type',
  ]),
};

const PUBLISH_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Why traces are lost on the way to the broker: codes of failed results, and a code for all others. */
export const PUBLISH_DROP_CAUSES = ['spool_full', 'spool_failed', 'record_too_large', 'unknown'] as const;

/** Metrics of publishing to a broker. The trace-writer records the metrics of writes. Spec: G12.10. */
export const PUBLISH_INSTRUMENTS = {
  dropped: counter(
    'svc.trace.publish_dropped_total',
    '{trace}',
    'Traces that neither a broker nor the spool accepted, by cause.',
    ['cause'],
    PUBLISH_DROP_CAUSES.map((cause) => ({ cause })),
  ),
  duration: histogram(
    'svc.trace.publish_duration_seconds',
    's',
    'Time to publish or spool one batch of traces.',
    PUBLISH_SECONDS,
  ),
};

/** Metrics kept by the publisher. */
export const PUBLISHER_INSTRUMENTS = {
  published: counter('svc.trace.published_total', '{trace}', 'Traces that a broker or the spool accepted.'),
  connected: gauge(
    'svc.trace.publisher_connected',
    '{connection}',
    '1 if a broker was reached and no send has failed since, else 0.',
  ),
  withoutBodies: counter(
    'svc.trace.publish_bodies_dropped_total',
    '{trace}',
    'Traces that lost their bodies: too large for the topic.',
  ),
  spoolRecords: gauge('svc.trace.spool_records', '{trace}', 'Traces that wait on the disk for a broker.'),
  spoolBytes: gauge('svc.trace.spool_size', 'By', 'Size of the spool on the disk.'),
  spoolLimit: gauge('svc.trace.spool_limit', 'By', 'Maximum size of the spool: queue.spool.max_bytes.'),
  drained: counter('svc.trace.spool_drained_total', '{trace}', 'Traces of the spool that a broker accepted.'),
  lost: counter('svc.trace.spool_lost_total', '{trace}', 'Traces of the spool that were lost, by cause.', ['cause']),
};
