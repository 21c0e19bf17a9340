import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseScrape, type ScrapeFamily } from '@vitrine/testkit/parse-scrape';
import { TelemetryFixture } from '@vitrine/testkit/telemetry-fixture';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { createLogger } from './logger.ts';
import type { Instrument } from './metrics/instrument.ts';
import { scrapeName } from './metrics/scrape-text.ts';
import { recordSpan, ServerSpan } from './spans/server-span.ts';
import { startTelemetry, type Telemetry } from './start-telemetry.ts';
import {
  createOrdersMetrics,
  ORDERS_INSTRUMENTS,
  ORDERS_OBSERVED,
  ORDERS_REQUESTS,
  readOrdersConfig,
  recordRequest,
} from './testing/orders-service.ts';

// Telemetry of a fictional service, as received by a collector and a scraper.

const CANARY = 'sk-proj-canary0123456789';
const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'];
const SPANS = 3;
const INSTRUMENTS: readonly Instrument[] = Object.values({ ...ORDERS_INSTRUMENTS, ...ORDERS_OBSERVED, ...ORDERS_REQUESTS });

const fixture = new TelemetryFixture<Telemetry>();

beforeEach(() => fixture.open());
afterEach(() => fixture.close());

async function start(yaml: Record<string, unknown> = {}): Promise<Required<Telemetry>> {
  const config = readOrdersConfig({ enabled: true, prometheus_enabled: true, endpoint: fixture.collector.url, ...yaml });
  const options = { config, version: '1.2.3', scope: 'vitrine.orders', metricPrefix: 'orders' };
  return fixture.run((onExportError) => startTelemetry({ ...options, onExportError }));
}

const family = (families: readonly ScrapeFamily[], name: string) => families.find((one) => one.name === name) as ScrapeFamily;

/** Records something with every instrument. */
function recordAll(telemetry: Required<Telemetry>): ServerSpan {
  const span = recordRequest(telemetry.tracer!);
  const metrics = createOrdersMetrics(telemetry.metrics!);
  metrics.shipped.add(11);
  metrics.payments.add(1, { result: 'accepted' });
  metrics.items.record(7);
  metrics.requestEnded('berlin', 0.042, span.sampledIds);
  metrics.requestEnded('berlin', 0.001, undefined);
  return span;
}

describe('spans', () => {
  test('have the names, kinds, attributes and parents set by the service', async () => {
    const telemetry = await start();
    recordRequest(telemetry.tracer!, { error: 'card declined' });
    await telemetry.flushSpans();
    expect(fixture.collector.spans).toHaveLength(SPANS);
    const server = fixture.span('POST /orders');
    expect(server).toMatchObject({
      kind: 2,
      parentSpanId: '',
      status: { code: 0 },
      resource: { 'service.name': 'svc-orders', 'service.version': '1.2.3' },
    });
    expect(server.attributes).toEqual({ 'orders.shop': 'berlin', 'orders.id': 'o-1', 'http.response.status_code': 201 });
    const parent = { traceId: server.traceId, parentSpanId: server.spanId };
    expect(fixture.span('reserve')).toMatchObject({ ...parent, kind: 1, attributes: {} });
    expect(fixture.span('pay')).toMatchObject({ ...parent, kind: 3, status: { code: 2, message: 'card declined' } });
    for (const span of fixture.collector.spans) {
      expect(span.endNanos).toBeGreaterThanOrEqual(span.startNanos);
      expect(Math.abs(Number(span.startNanos / 1_000_000n) - Date.now())).toBeLessThan(60_000);
    }
  });

  test('a root span is a trace of its own', async () => {
    const telemetry = await start();
    const [startedAt, endedAt] = [performance.now(), performance.now()];
    recordSpan(telemetry.tracer!, { name: 'nightly', attributes: { 'orders.count': 7 }, startedAt, endedAt });
    await telemetry.flushSpans();
    expect(fixture.span('nightly')).toMatchObject({ parentSpanId: '', attributes: { 'orders.count': 7 } });
  });

  test.each(PROTOCOLS)('over %s no span contains a credential, wherever it was', async (protocol) => {
    const telemetry = await start({ protocol, endpoint: fixture.endpointOf(protocol), service_name: `svc ${CANARY}` });
    const headers = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: `vendor=${CANARY}`,
    };
    recordRequest(telemetry.tracer!, { headers, shop: CANARY, error: `refused Bearer ${CANARY}` });
    await telemetry.flushSpans();
    expect(fixture.collector.spans).toHaveLength(SPANS);
    const texts = JSON.stringify(fixture.collector.spans, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(texts).not.toContain('canary0123456789');
    expect(texts).toContain('[CREDENTIAL_REDACTED]');
  });
});

describe('sampling and propagation', () => {
  const parent = (flags: string) => ({
    traceparent: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`,
    tracestate: 'a=1',
  });

  test('a sampled parent is respected at ratio 0, and its trace continues', async () => {
    const telemetry = await start({ sampling_ratio: 0 });
    const { sent } = recordRequest(telemetry.tracer!, { headers: parent('01') });
    await telemetry.flushSpans();
    const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', parentSpanId: 'b7ad6b7169203331' };
    expect(fixture.span('POST /orders')).toMatchObject(ids);
    expect(sent).toBe(`00-${ids.traceId}-${fixture.span('pay').spanId}-01`);
  });

  test('an unsampled parent is respected at ratio 1: nothing is exported', async () => {
    const telemetry = await start();
    const span = recordRequest(telemetry.tracer!, { headers: parent('00') });
    expect([span.sampledIds, span.startClient('pay', performance.now())]).toEqual([undefined, undefined]);
    expect(span.sent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
    await telemetry.flushSpans();
    expect(fixture.collector.spans).toEqual([]);
  });

  test.each([
    'garbage',
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ])('an invalid traceparent (%s) starts a new trace', async (traceparent) => {
    const telemetry = await start();
    const span = new ServerSpan(telemetry.tracer!, 'POST /orders', performance.now(), { traceparent });
    expect(span.traceId).not.toContain('0af7651916cd43dd');
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  test('log lines of a request have the ids of its span', async () => {
    const telemetry = await start();
    const span = new ServerSpan(telemetry.tracer!, 'POST /orders', performance.now(), {});
    const lines: string[] = [];
    const logger = createLogger('svc-orders', 'info', { write: (line) => lines.push(line) });
    span.run(() => logger.info('within'));
    logger.info('after');
    const [within, after] = lines.map((line) => JSON.parse(line) as object);
    expect(within).toMatchObject({ trace_id: span.traceId, span_id: span.spanId, msg: 'within' });
    expect(after).not.toHaveProperty('trace_id');
  });
});

describe('metrics', () => {
  test.each(PROTOCOLS)('pushed over %s: every declared instrument, its attributes and exemplars', async (protocol) => {
    const telemetry = await start({ protocol, endpoint: fixture.endpointOf(protocol) });
    const { traceId, spanId } = recordAll(telemetry);
    await telemetry.flushMetrics();
    await telemetry.flushSpans();
    const expected = { 'http/protobuf': 'http/protobuf /v1/', 'http/json': 'http/json /v1/', grpc: 'grpc ' }[protocol] ?? '';
    expect(fixture.collector.requests.toSorted()).toEqual([`${expected}metrics`, `${expected}traces`]);
    for (const { name, kind, unit } of INSTRUMENTS) expect(fixture.metric(name)).toMatchObject({ name, kind, unit });
    expect(fixture.metric('orders.payments_total').points).toMatchObject([
      { attributes: { result: 'accepted' }, value: 1 },
      { attributes: { result: 'rejected' }, value: 0 },
    ]);
    expect(fixture.metric('orders.waiting').points).toMatchObject([{ attributes: {}, value: 3 }]);
    expect(fixture.metric('orders.returned_total').points).toMatchObject([{ attributes: { reason: 'broken' }, value: 2 }]);
    expect(fixture.metric('orders.items').points).toMatchObject([{ count: 1, sum: 7, bounds: [1, 5, 10] }]);
    expect(fixture.metric('orders.request_duration_seconds').points).toMatchObject([
      {
        attributes: { shop: 'berlin', route: '/orders' },
        bounds: [0.01, 0.1, 1],
        counts: [1, 1, 0, 0],
        exemplars: [{ traceId, spanId, value: 0.042 }],
      },
    ]);
    expect(fixture.metric('orders.shipped_total').resource).toMatchObject({
      'service.name': 'svc-orders',
      'service.version': '1.2.3',
    });
    expect(fixture.exportErrors).toEqual([]);
  });

  test('declared counters are 0 from the start, and the process counts its spans', async () => {
    const telemetry = await start();
    createOrdersMetrics(telemetry.metrics!);
    const families = parseScrape((await telemetry.scrape!(undefined)).body, 'classic');
    const values = (name: string) => family(families, name).samples.map(({ value, labels }) => [value, ...Object.values(labels)]);
    expect(values('orders_shipped_total')).toEqual([[0]]);
    expect(values('orders_payments_total')).toEqual([
      [0, 'accepted'],
      [0, 'rejected'],
    ]);
    expect(values('orders_telemetry_spans_total')).toEqual([
      [0, 'exported'],
      [0, 'failed'],
      [0, 'dropped'],
    ]);
  });

  test('beyond the capacity of a table its sets are counted together', async () => {
    const telemetry = await start();
    const metrics = createOrdersMetrics(telemetry.metrics!);
    for (let shop = 0; shop < 110; shop += 1) metrics.requestEnded(`shop-${shop}`, 1, undefined);
    const families = parseScrape((await telemetry.scrape!(undefined)).body, 'classic');
    const { samples } = family(families, 'orders_request_total');
    expect(samples).toHaveLength(101);
    expect(samples.at(-1)).toMatchObject({ labels: { shop: 'other', route: '/orders' }, value: 10 });
  });

  test('an exemplar is pushed once', async () => {
    const telemetry = await start({ metric_export_interval_ms: 20, export_timeout_ms: 20 });
    recordAll(telemetry);
    await waitUntil(() => fixture.collector.metricExports.length >= 3, { what: 'three pushes' });
    const pushed = fixture.collector.metricExports.flatMap((metrics) =>
      metrics
        .filter(({ name }) => name === 'orders.request_duration_seconds')
        .flatMap(({ points }) => points.flatMap((point) => point.exemplars)),
    );
    expect(pushed).toHaveLength(1);
  });

  test('scraped as OpenMetrics: a strict parser accepts it, with exemplars', async () => {
    const telemetry = await start();
    const span = recordAll(telemetry);
    const { body, contentType } = await telemetry.scrape!(OPEN_METRICS);
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    const families = parseScrape(body, 'openmetrics');
    const { samples } = family(families, 'orders_request_duration_seconds');
    const withExemplar = samples.filter(({ exemplar }) => exemplar !== undefined);
    expect(withExemplar).toMatchObject([
      { labels: { le: '0.1' }, exemplar: { labels: { trace_id: span.traceId, span_id: span.spanId }, value: 0.042 } },
    ]);
    expect(family(families, 'orders_shipped').samples).toEqual([{ name: 'orders_shipped_total', labels: {}, value: 11 }]);
    expect(family(families, 'target').samples[0]?.labels).toMatchObject({
      service_name: 'svc-orders',
      service_version: '1.2.3',
    });
  });

  test.each([
    undefined,
    'text/plain',
    '*/*',
    'application/openmetrics-text;q=0',
    'text/plain, application/openmetrics-text;q=0.1',
  ])('scraped with Accept %s: the classic text without exemplars', async (accept) => {
    const telemetry = await start();
    recordAll(telemetry);
    const { body, contentType } = await telemetry.scrape!(accept);
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    const families = parseScrape(body, 'classic');
    for (const { name, unit, kind } of INSTRUMENTS)
      expect(family(families, scrapeName(name, unit, kind))).toMatchObject({ type: kind });
  });

  test('push and scrape read one meter provider and return the same', async () => {
    const telemetry = await start();
    recordAll(telemetry);
    const families = parseScrape((await telemetry.scrape!(OPEN_METRICS)).body, 'openmetrics');
    await telemetry.flushMetrics();
    for (const { name, unit, kind } of INSTRUMENTS) {
      const pushed = fixture.metric(name).points.map((point) => point.value ?? point.count);
      const scraped = family(families, scrapeName(name, unit, kind).replace(/_total$/, '')).samples;
      const values = scraped.filter((sample) => !/_(bucket|sum)$/.test(sample.name)).map((sample) => sample.value);
      expect([name, values]).toEqual([name, pushed]);
    }
  });

  test('runtime metrics carry the names of Node', async () => {
    const telemetry = await start();
    await waitUntil(async () => (await telemetry.scrape!(undefined)).body.includes('nodejs_eventloop_delay_p99_seconds'), {
      what: 'the event loop to be measured',
    });
    const names = parseScrape((await telemetry.scrape!(undefined)).body, 'classic').map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['nodejs_eventloop_utilization_ratio', 'v8js_memory_heap_used_bytes']));
  });
});

describe('variables of OpenTelemetry', () => {
  const HEADERS = [
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
  ] as const;
  afterEach(() => {
    for (const name of HEADERS) delete process.env[name];
  });

  /** Exports one span, and metrics, by the environment alone. */
  async function exportBy(env: Record<string, string>): Promise<void> {
    const config = readOrdersConfig({ prometheus_enabled: true }, env);
    const options = { config, version: '1.2.3', scope: 'vitrine.orders', metricPrefix: 'orders' };
    const telemetry = await fixture.run((onExportError) => startTelemetry({ ...options, onExportError }));
    recordSpan(telemetry.tracer!, { name: 'nightly', startedAt: performance.now(), endedAt: performance.now() });
    await telemetry.flushSpans();
    await telemetry.flushMetrics();
    expect(fixture.exportErrors).toEqual([]);
  }

  test('the address of a signal is used as it is, with its own protocol, and wins over that of both', async () => {
    const { url, grpcUrl } = fixture.collector;
    await exportBy({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/both`,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/team-a/traces`,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    });
    expect(fixture.collector.requests).toEqual(['http/json /team-a/traces', 'http/protobuf /both/v1/metrics']);
    await fixture.close();
    await fixture.open();
    await exportBy({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: fixture.collector.grpcUrl,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${fixture.collector.url}/metrics`,
    });
    expect([grpcUrl, fixture.collector.requests]).toEqual([expect.any(String), ['grpc traces', 'http/protobuf /metrics']]);
  });

  test.each(PROTOCOLS)('over %s headers are decoded and sent, and those of a signal win', async (protocol) => {
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20both%2C1, x-team=a',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=Basic dHJhY2VzOmE=,',
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: ' ',
    };
    Object.assign(process.env, env);
    await exportBy({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: fixture.endpointOf(protocol), OTEL_EXPORTER_OTLP_PROTOCOL: protocol });
    expect(fixture.collector.requestHeaders).toMatchObject([
      { authorization: 'Basic dHJhY2VzOmE=', 'x-team': 'a' },
      { authorization: 'Bearer both,1', 'x-team': 'a' },
    ]);
  });
});

test.each([
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'brotli'],
  ['OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE', '/nowhere/ca.pem'],
])('%s=%s is reported, because the exporter ignores it', async (name, value) => {
  process.env[name] = value;
  try {
    await start();
  } finally {
    delete process.env[name];
  }
  expect(fixture.exportErrors).toEqual([expect.stringMatching(/OTEL_EXPORTER_OTLP_COMPRESSION is invalid|root certificate/)]);
});

describe('a collector that is slow or gone', () => {
  test.each(PROTOCOLS)('over %s: spans are kept up to a bound, and the rest is counted', async (protocol) => {
    fixture.collector.behaviour = 'hang';
    const own = { protocol, endpoint: fixture.endpointOf(protocol), export_timeout_ms: 200, metrics_enabled: false };
    const telemetry = await start(own);
    const all = 7_000 * SPANS;
    for (let i = 0; i < 7_000; i += 1) recordRequest(telemetry.tracer!);
    const { exported, failed, dropped } = telemetry.spanCounts;
    expect(exported).toBe(0);
    expect(dropped).toBeGreaterThanOrEqual(all - 16_384 - failed);
    await telemetry.flushSpans();
    await waitUntil(() => telemetry.spanCounts.failed + telemetry.spanCounts.dropped === all, {
      what: 'every span to be counted',
    });
    const families = parseScrape((await telemetry.scrape!(undefined)).body, 'classic');
    const counted = family(families, 'orders_telemetry_spans_total').samples.reduce((sum, { value }) => sum + value, 0);
    expect(counted).toBe(all);
  });

  test.each(['refuse', 'hang'] as const)('%s: flushing ends within the timeout and does not reject', async (behaviour) => {
    fixture.collector.behaviour = behaviour;
    const telemetry = await start({ export_timeout_ms: 100, metric_export_interval_ms: 100 });
    recordRequest(telemetry.tracer!);
    await telemetry.flushSpans();
    await telemetry.flushMetrics();
    expect(telemetry.spanCounts).toEqual({ exported: 0, failed: SPANS, dropped: 0 });
    expect(fixture.exportErrors.join('\n')).toMatch(/spans could not be exported/);
  });

  test.each(PROTOCOLS)('over %s: exported spans free their space', async (protocol) => {
    const telemetry = await start({ protocol, endpoint: fixture.endpointOf(protocol), metrics_enabled: false });
    for (let sent = 0; sent < 18_000; sent += 4_500) {
      for (let i = 0; i < 1_500; i += 1) recordRequest(telemetry.tracer!);
      await waitUntil(() => telemetry.spanCounts.exported >= sent + 3_072, { what: 'full batches' });
    }
    await telemetry.flushSpans();
    expect(telemetry.spanCounts).toEqual({ exported: 18_000, failed: 0, dropped: 0 });
    expect(fixture.collector.spans).toHaveLength(18_000);
  });

  test('when the collector is back, new spans arrive', async () => {
    fixture.collector.behaviour = 'refuse';
    const telemetry = await start({ metrics_enabled: false });
    recordRequest(telemetry.tracer!);
    await waitUntil(() => telemetry.spanCounts.failed === SPANS, { what: 'the refusal' });
    fixture.collector.behaviour = 'accept';
    recordRequest(telemetry.tracer!);
    await waitUntil(() => telemetry.spanCounts.exported === SPANS, { what: 'the spans' });
  });
});

test('disabled parts are absent', async () => {
  const telemetry = await start({ enabled: false });
  expect([telemetry.tracer, typeof telemetry.metrics, typeof telemetry.scrape]).toEqual([undefined, 'object', 'function']);
  telemetry[Symbol.dispose]();
  expect(await start({ enabled: false, prometheus_enabled: false })).toBeUndefined();
});
