/** A metric as it is declared to the meter provider. */
export interface Instrument {
  readonly name: string;
  readonly kind: 'counter' | 'histogram' | 'gauge';
  readonly unit: string;
  readonly description: string;
  readonly attributes: readonly string[];
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}

const SCOPE = ['provider', 'model', 'org_id', 'workspace_id', 'route'] as const;
const SCOPE_AND_STATUS = [...SCOPE, 'status_code'] as const;
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FLUSH_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
/** Batches hold 256 unless `queue.batch` says otherwise, and 4,096 at most. */
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096];
const GENAI = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'] as const;
const GENAI_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const GENAI_TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** The gateway's 12 instruments. Spec: gateway, Metrics. */
export const GATEWAY_INSTRUMENTS = {
  queueDropped: {
    name: 'svc.trace.queue_dropped_total',
    kind: 'counter',
    unit: '{trace}',
    description: 'Traces dropped because the queue was full.',
    attributes: SCOPE_AND_STATUS,
  },
  writeFailed: {
    name: 'svc.trace.write_failed_total',
    kind: 'counter',
    unit: '{trace}',
    description: 'Traces that could not be written to the store.',
    attributes: ['operation', 'error_class', 'store'],
  },
  enqueued: {
    name: 'svc.trace.enqueued_total',
    kind: 'counter',
    unit: '{trace}',
    description: 'Traces taken by the queue.',
    attributes: [],
  },
  written: {
    name: 'svc.trace.written_total',
    kind: 'counter',
    unit: '{trace}',
    description: 'Traces written to the store.',
    attributes: [],
  },
  flushDuration: {
    name: 'svc.trace.flush_duration_seconds',
    kind: 'histogram',
    unit: 's',
    description: 'Time to write one batch of traces.',
    attributes: [],
    buckets: FLUSH_SECONDS,
  },
  flushBatchSize: {
    name: 'svc.trace.flush_batch_size',
    kind: 'histogram',
    unit: '{trace}',
    description: 'Traces in one written batch.',
    attributes: [],
    buckets: BATCH_SIZES,
  },
  queueDepth: {
    name: 'svc.trace.queue_depth',
    kind: 'gauge',
    unit: '{trace}',
    description: 'Traces that wait in the queue or are being written.',
    attributes: [],
  },
  queueCapacity: {
    name: 'svc.trace.queue_capacity',
    kind: 'gauge',
    unit: '{trace}',
    description: 'Traces that the queue can hold.',
    attributes: [],
  },
  providerRequests: {
    name: 'svc.provider.request_total',
    kind: 'counter',
    unit: '{request}',
    description: 'Requests sent to a provider.',
    attributes: SCOPE_AND_STATUS,
  },
  providerDuration: {
    name: 'svc.provider.request_duration_seconds',
    kind: 'histogram',
    unit: 's',
    description: 'Time from sending a request to a provider to the end of its answer.',
    attributes: SCOPE,
    buckets: REQUEST_SECONDS,
  },
  proxyRequests: {
    name: 'svc.proxy.request_total',
    kind: 'counter',
    unit: '{request}',
    description: 'Requests that the gateway answered.',
    attributes: SCOPE_AND_STATUS,
  },
  proxyDuration: {
    name: 'svc.proxy.request_duration_seconds',
    kind: 'histogram',
    unit: 's',
    description: 'Time from receiving a request to the end of its answer.',
    attributes: SCOPE,
    buckets: REQUEST_SECONDS,
  },
} as const satisfies Record<string, Instrument>;

/** What telemetry says of itself. */
export const SELF_INSTRUMENTS = {
  spans: {
    name: 'svc.telemetry.spans_total',
    kind: 'counter',
    unit: '{span}',
    description:
      'Sampled spans by what became of them: exported, failed (the collector did not take them), dropped (queue full).',
    attributes: ['result'],
  },
  collapsed: {
    name: 'svc.telemetry.labels_collapsed_total',
    kind: 'counter',
    unit: '{request}',
    description: 'Requests whose label became "other" because there are too many: model names, or sets of labels.',
    attributes: ['label'],
  },
} as const satisfies Record<string, Instrument>;

/** The connections of clients to the gateway; not among the specification's. */
export const CONNECTION_INSTRUMENTS = {
  connections: {
    name: 'svc.server.connections',
    kind: 'gauge',
    unit: '{connection}',
    description: 'Client connections that are open.',
    attributes: [],
  },
  connectionLimit: {
    name: 'svc.server.connection_limit',
    kind: 'gauge',
    unit: '{connection}',
    description: 'Client connections that may be open: server.max_connections.',
    attributes: [],
  },
  connectionsClosed: {
    name: 'svc.server.connections_closed_total',
    kind: 'counter',
    unit: '{connection}',
    description: 'Client connections that the gateway refused or ended, by reason.',
    attributes: ['reason'],
  },
} as const satisfies Record<string, Instrument>;

/** Metrics of the GenAI semantic conventions, recorded when `observability.otel.genai` is on.
 *  Source: open-telemetry/semantic-conventions-genai, status Development. */
export const GENAI_INSTRUMENTS = {
  operationDuration: {
    name: 'gen_ai.client.operation.duration',
    kind: 'histogram',
    unit: 's',
    description: 'GenAI operation duration.',
    attributes: [...GENAI, 'error.type'],
    buckets: GENAI_SECONDS,
  },
  timeToFirstChunk: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    kind: 'histogram',
    unit: 's',
    description: 'Time from the request to the first chunk of a streamed answer.',
    attributes: GENAI,
    buckets: GENAI_SECONDS,
  },
  tokenUsage: {
    name: 'gen_ai.client.token.usage',
    kind: 'histogram',
    unit: '{token}',
    description: 'Number of input and output tokens used.',
    attributes: [...GENAI, 'gen_ai.token.type'],
    buckets: GENAI_TOKENS,
  },
} as const satisfies Record<string, Instrument>;
