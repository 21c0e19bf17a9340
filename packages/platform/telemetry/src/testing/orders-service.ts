import type { Tracer } from '@opentelemetry/api';
import { readConfig } from '@vitrine/config/read-config';
import { z } from 'zod';
import { otelConfig, type OtelConfig, otelVariables } from '../config/otel-config.ts';
import { labelOf } from '../metrics/bounded-names.ts';
import { DurationSeries } from '../metrics/duration-series.ts';
import { counter, gauge, histogram, type ServiceMetrics } from '../metrics/instrument.ts';
import { counterData, histogramData } from '../metrics/metric-data.ts';
import { SeriesTable } from '../metrics/series-table.ts';
import type { SpanIds } from '../active-span.ts';
import { ServerSpan } from '../spans/server-span.ts';

// A fictional order service that shows what a service declares for telemetry.

const PREFIX = 'ORDERS_';
const schema = z.strictObject({
  observability: z
    .strictObject({ otel: otelConfig({ serviceName: 'svc-orders', reservedPaths: ['/api', '/orders'] }).prefault({}) })
    .prefault({}),
});

/** Its configuration of telemetry, from YAML and environment. */
export function readOrdersConfig(
  otel: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): OtelConfig {
  const source = { defaults: { observability: { otel } }, env, prefix: PREFIX, named: otelVariables(PREFIX) };
  return readConfig(schema, source).observability.otel;
}

export const ORDERS_INSTRUMENTS = {
  shipped: counter('orders.shipped_total', '{order}', 'Shipped orders.'),
  payments: counter(
    'orders.payments_total',
    '{payment}',
    'Payments by result.',
    ['result'],
    [{ result: 'accepted' }, { result: 'rejected' }],
  ),
  items: histogram('orders.items', '{item}', 'Items of an order.', [1, 5, 10]),
};

/** Metrics with external values. */
export const ORDERS_OBSERVED = {
  waiting: gauge('orders.waiting', '{order}', 'Waiting orders.'),
  returned: counter('orders.returned_total', '{order}', 'Returned orders by reason.', ['reason']),
};

/** Metrics of every request, counted outside the SDK. */
export const ORDERS_REQUESTS = {
  requests: counter('orders.request_total', '{request}', 'Requests.', ['shop', 'route']),
  duration: histogram('orders.request_duration_seconds', 's', 'Duration of requests.', [0.01, 0.1, 1], ['shop', 'route']),
};

/** Declares its metrics and returns functions that record them. `clock`: milliseconds since the epoch. */
export function createOrdersMetrics(metrics: ServiceMetrics, clock: () => number = Date.now) {
  const table = new SeriesTable({
    capacity: 100,
    collapsible: ['shop'],
    make: (attributes) => {
      const startedAt = clock();
      const duration = new DurationSeries(attributes, ORDERS_REQUESTS.duration.buckets, startedAt);
      return { attributes, startedAt, value: 0, duration };
    },
  });
  metrics.addSource((now) => {
    const all = [...table.series()];
    const durations = all.map(({ duration }) => duration);
    return [counterData(ORDERS_REQUESTS.requests, all, now), histogramData(ORDERS_REQUESTS.duration, durations, now)];
  });
  metrics.observe(ORDERS_OBSERVED, () => ({ waiting: 3, returned: [[{ reason: 'broken' }, 2]] }));
  return {
    ...metrics.declare(ORDERS_INSTRUMENTS),
    requestEnded: (shop: string, seconds: number, ids: SpanIds | undefined) => {
      const series = table.get([shop]) ?? table.add([shop], { shop: labelOf(shop), route: '/orders' });
      series.value += 1;
      series.duration.record(seconds, ids, clock());
    },
  };
}

/** Records the three spans of one request, and returns its server span. `sent`: the `traceparent` of its call of another service. */
export function recordRequest(
  tracer: Tracer,
  { headers = {}, shop = 'berlin', error }: { headers?: Record<string, string>; shop?: string; error?: string } = {},
): ServerSpan & { readonly sent: string } {
  const span = new ServerSpan(tracer, 'POST /orders', performance.now(), headers);
  span.recordChild({ name: 'reserve', startedAt: performance.now(), endedAt: performance.now() });
  const payment = span.startClient('pay', performance.now());
  payment?.end(performance.now(), { attributes: { 'orders.payment_id': 'pay-1' }, failure: error });
  const attributes = { 'orders.shop': shop, 'http.response.status_code': 201, 'orders.id': 'o-1' };
  span.end(performance.now(), { attributes, failure: undefined });
  return Object.assign(span, { sent: payment?.traceParent ?? span.traceParent });
}
