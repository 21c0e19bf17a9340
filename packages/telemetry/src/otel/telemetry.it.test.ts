import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CollectedMetric, CollectedSpan } from '@vitrine/testkit/collected-telemetry';
import { parseScrape, type ScrapeFamily } from '@vitrine/testkit/parse-scrape';
import { startTestCollector, type TestCollector } from '@vitrine/testkit/test-collector';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { createLogger } from '../logger.ts';
import { GATEWAY_INSTRUMENTS, GENAI_INSTRUMENTS } from './instruments.ts';
import { readOtelConfig } from './read-otel-config.ts';
import { scrapeName } from './scrape-name.ts';
import { startTelemetry, type Telemetry } from './start-telemetry.ts';
import type { RequestSpan, SpanEnd } from './request-span.ts';

const CANARY = 'sk-proj-canary0123456789';
const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const TENANT = { org_id: 'org-a', workspace_id: 'ws-a' };
const LABELS = { provider: 'openai', model: 'gpt-4o', ...TENANT, route: '/openai/*' };

/** Of a request that was sent to no provider. */
const UNSENT = { durationMs: 1, providerMs: undefined };

const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'];

let collector: TestCollector;
let running: Telemetry | undefined;
const trouble: string[] = [];

beforeEach(async () => {
  collector = await startTestCollector();
  trouble.length = 0;
});
afterEach(async () => {
  await Promise.all([running?.flushSpans(), running?.flushMetrics()]);
  running?.[Symbol.dispose]();
  running = undefined;
  await collector[Symbol.asyncDispose]();
});

async function start(yaml: Record<string, unknown> = {}, env: Record<string, string> = {}): Promise<Required<Telemetry>> {
  const config = readOtelConfig({ enabled: true, prometheus_enabled: true, endpoint: collector.url, ...yaml }, env);
  running = await startTelemetry({ config, version: '1.2.3', onExportError: (message) => trouble.push(message) });
  return running as Required<Telemetry>;
}

const endpointOf = (protocol: string) => (protocol === 'grpc' ? collector.grpcUrl : collector.url);

/** A proxied request as the gateway tells of one. */
function proxied(telemetry: Required<Telemetry>, end: Partial<SpanEnd> = {}, headers: Record<string, string> = {}): RequestSpan {
  const span = telemetry.spans!.begin(performance.now(), 'POST', '/openai/*', headers);
  span.authenticated(performance.now(), performance.now(), {
    ...TENANT,
    key_id: 'gk_1',
    role: 'developer',
    correlationId: 'corr-1',
  });
  span.startUpstream(performance.now(), { provider: 'openai', operation: 'chat' });
  span.end(performance.now(), { ...TENANT, status: 200, provider: 'openai', upstreamStatus: 200, model: 'gpt-4o', ...end });
  span.enqueued(performance.now(), performance.now(), true, TENANT);
  return span;
}

function named(name: string): CollectedSpan {
  const found = collector.spans.filter((span) => span.name === name);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0] as CollectedSpan;
}

const metric = (name: string) => collector.metrics.find((one) => one.name === name) as CollectedMetric;
const family = (families: readonly ScrapeFamily[], name: string) => families.find((one) => one.name === name) as ScrapeFamily;

describe('spans', () => {
  test('of a proxied request have the names, kinds, attributes and parents of the specification', async () => {
    const telemetry = await start();
    proxied(telemetry);
    await telemetry.flushSpans();
    const server = named('POST /openai/*');
    expect(collector.spans).toHaveLength(5);
    expect(server).toMatchObject({
      kind: 2,
      parentSpanId: '',
      status: { code: 0 },
      resource: { 'service.name': 'svc-gateway', 'service.version': '1.2.3' },
      attributes: {
        'gateway.correlation_id': 'corr-1',
        'gateway.org_id': 'org-a',
        'gateway.workspace_id': 'ws-a',
        'gateway.key_id': 'gk_1',
        'gateway.role': 'developer',
        'http.request.method': 'POST',
        'http.route': '/openai/*',
        'http.response.status_code': 200,
      },
    });
    expect(named('proxy POST /openai/*')).toMatchObject({
      kind: 3,
      status: { code: 0 },
    });
    expect(named('proxy POST /openai/*').attributes).toEqual({ 'http.response.status_code': 200 });
    expect(named('gateway.auth').attributes).toEqual({ 'gateway.auth.result': 'allow' });
    expect(named('gateway.route').attributes).toEqual({
      'gateway.route.provider': 'openai',
      'gateway.route.prefix': '/openai',
      'gateway.org_id': 'org-a',
      'gateway.workspace_id': 'ws-a',
    });
    expect(named('gateway.trace.enqueue').attributes).toEqual({
      'gateway.trace.enqueue.result': 'accepted',
      'gateway.org_id': 'org-a',
      'gateway.workspace_id': 'ws-a',
    });
    const children = collector.spans.filter((span) => span !== server);
    for (const span of children) expect(span).toMatchObject({ traceId: server.traceId, parentSpanId: server.spanId });
    for (const span of collector.spans) {
      expect(span.endNanos).toBeGreaterThanOrEqual(span.startNanos);
      expect(Math.abs(Number(span.startNanos / 1_000_000n) - Date.now())).toBeLessThan(60_000);
    }
  });

  test.each([
    [{ status: 200, upstreamStatus: 200 }, 0, 0, ''],
    [{ status: 404, upstreamStatus: 404 }, 0, 0, ''],
    [{ status: 502, upstreamStatus: 502 }, 2, 2, 'http 502'],
    [{ status: 504, upstreamStatus: undefined, upstreamError: 'idle_timeout' }, 2, 2, 'idle_timeout'],
    [{ status: 502, upstreamStatus: 500, upstreamError: 'reset' }, 2, 2, 'reset'],
    [{ status: 499, upstreamStatus: 200 }, 0, 0, ''],
  ])('%j: a 5xx is an error of upstream and route, a 4xx is not', async (end, upstream, route, message) => {
    const telemetry = await start();
    proxied(telemetry, end);
    await telemetry.flushSpans();
    expect(named('proxy POST /openai/*').status).toEqual({ code: upstream, message });
    expect(named('gateway.route').status.code).toBe(route);
    expect(named('POST /openai/*').status.code).toBe(route);
  });

  test.each([
    ['unauthorized', { 'gateway.auth.result': 'deny', 'gateway.auth.deny_reason': 'unauthorized' }],
    ['forbidden', { 'gateway.auth.result': 'deny', 'gateway.auth.deny_reason': 'forbidden' }],
    ['unavailable', { 'gateway.auth.result': 'deny' }],
  ] as const)('%s: a denial is an error with its reason, and the server span learns of no caller', async (reason, expected) => {
    const telemetry = await start();
    const span = telemetry.spans!.begin(performance.now(), 'GET', '/api/*', {});
    span.authenticated(performance.now(), performance.now(), reason);
    span.end(performance.now(), { org_id: undefined, workspace_id: undefined, status: 401, provider: undefined });
    await telemetry.flushSpans();
    expect(named('gateway.auth')).toMatchObject({ attributes: expected, status: { code: 2 } });
    expect(Object.keys(named('GET /api/*').attributes).filter((key) => key.startsWith('gateway.'))).toEqual([]);
    expect(named('gateway.route').attributes).toMatchObject({
      'gateway.route.provider': 'unknown',
      'gateway.route.prefix': '/',
      'gateway.org_id': 'unknown',
    });
  });

  test('a dropped trace and a failed write are errors with the messages of the specification', async () => {
    const telemetry = await start();
    telemetry
      .spans!.begin(performance.now(), 'POST', '/openai/*', {})
      .enqueued(performance.now(), performance.now(), false, TENANT);
    const times = { startedAt: performance.now(), endedAt: performance.now() };
    telemetry.spans!.batchWritten({ ...times, batchSize: 7, errorClass: `contention ${CANARY}` });
    telemetry.spans!.batchWritten({ ...times, batchSize: 8, errorClass: undefined });
    await telemetry.flushSpans();
    expect(named('gateway.trace.enqueue')).toMatchObject({
      attributes: { 'gateway.trace.enqueue.result': 'dropped' },
      status: { code: 2, message: 'trace dropped' },
    });
    const writes = collector.spans.filter((span) => span.name === 'gateway.trace.write');
    expect(writes.map(({ attributes, status, parentSpanId }) => ({ attributes, status, parentSpanId }))).toEqual([
      {
        attributes: {
          'gateway.trace.write.batch_size': 7,
          'gateway.trace.write.error_class': 'contention [CREDENTIAL_REDACTED]',
        },
        status: { code: 2, message: 'write failed' },
        parentSpanId: '',
      },
      { attributes: { 'gateway.trace.write.batch_size': 8 }, status: { code: 0, message: '' }, parentSpanId: '' },
    ]);
  });

  test.each(PROTOCOLS)('over %s a credential leaves in no span, wherever it stood', async (protocol) => {
    const telemetry = await start({ protocol, endpoint: endpointOf(protocol), service_name: `svc ${CANARY}` });
    const headers = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: `vendor=${CANARY}`,
    };
    proxied(telemetry, { model: CANARY, upstreamError: `refused Bearer ${CANARY}` }, headers);
    await telemetry.flushSpans();
    expect(collector.spans).toHaveLength(5);
    const texts = JSON.stringify(collector.spans, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    expect(texts).not.toContain('canary0123456789');
    expect(texts).toContain('[CREDENTIAL_REDACTED]');
  });
});

describe('sampling and propagation', () => {
  const parent = (flags: string) => ({
    traceparent: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`,
    tracestate: 'a=1',
  });

  test('a sampled parent is respected at ratio 0, and the upstream is given the client span', async () => {
    const telemetry = await start({ sampling_ratio: 0 });
    const span = telemetry.spans!.begin(performance.now(), 'POST', '/openai/*', parent('01'));
    const sent = span.startUpstream(performance.now(), { provider: 'openai', operation: 'chat' });
    span.end(performance.now(), { ...TENANT, status: 200, provider: 'openai', upstreamStatus: 200 });
    await telemetry.flushSpans();
    expect(named('POST /openai/*')).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
    });
    const client = named('proxy POST /openai/*');
    expect(sent).toEqual(['traceparent', `00-0af7651916cd43dd8448eb211c80319c-${client.spanId}-01`, 'tracestate', 'a=1']);
    expect(span.sampledIds).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c' });
  });

  test('an unsampled parent is respected at ratio 1: nothing is exported, and the upstream is told so', async () => {
    const telemetry = await start();
    const span = proxied(telemetry, {}, parent('00'));
    expect(span.sampledIds).toBeUndefined();
    expect(span.startUpstream(performance.now(), { provider: 'openai', operation: undefined })[1]).toMatch(
      /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/,
    );
    await telemetry.flushSpans();
    expect(collector.spans).toEqual([]);
  });

  test.each([
    'garbage',
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ])('a traceparent that is none (%s) begins a trace of our own', async (traceparent) => {
    const telemetry = await start();
    const span = telemetry.spans!.begin(performance.now(), 'GET', '/other', { traceparent });
    expect(span.traceId).not.toContain('0af7651916cd43dd');
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  test('what a request logs carries the ids of its span', async () => {
    const telemetry = await start();
    const span = telemetry.spans!.begin(performance.now(), 'GET', '/api/*', {});
    const lines: string[] = [];
    const logger = createLogger('svc-gateway', 'info', { write: (line) => lines.push(line) });
    span.run(() => logger.info('within'));
    logger.info('after');
    const [within, after] = lines.map((line) => JSON.parse(line) as object);
    expect(within).toMatchObject({ trace_id: span.traceId, span_id: span.spanId, msg: 'within' });
    expect(after).not.toHaveProperty('trace_id');
  });
});

describe('metrics', () => {
  async function recordAll(telemetry: Required<Telemetry>): Promise<RequestSpan> {
    const metrics = telemetry.metrics!;
    const span = proxied(telemetry);
    metrics.watchQueue(() => ({ depth: 3, capacity: 4096, enqueued: 11, written: 7 }));
    metrics.requestEnded({ ...LABELS, status: 200, durationMs: 42, providerMs: 30 }, span.sampledIds);
    metrics.requestEnded({ ...LABELS, status: 429, durationMs: 1, providerMs: undefined }, undefined);
    metrics.traceDropped(LABELS, 200);
    metrics.writeFailed({ operation: 'write_batch_fallback', error_class: 'contention', store: 'sqlite', count: 2 });
    metrics.flushed(256, 3);
    metrics.genai?.operationEnded(
      { operation: 'chat', provider: 'openai', requestModel: 'gpt-4o' },
      { durationMs: 30, firstChunkMs: 10, errorType: undefined },
    );
    metrics.genai?.tokensUsed({ operation: 'chat', provider: 'openai', requestModel: 'gpt-4o' }, { input: 100, output: 20 });
    return span;
  }

  test.each(PROTOCOLS)('pushed over %s: the 12 instruments, their attributes and exemplars', async (protocol) => {
    const telemetry = await start({ protocol, endpoint: endpointOf(protocol) });
    const span = await recordAll(telemetry);
    await telemetry.flushMetrics();
    await telemetry.flushSpans();
    const expected = { 'http/protobuf': 'http/protobuf /v1/', 'http/json': 'http/json /v1/', grpc: 'grpc ' }[protocol] ?? '';
    expect(collector.requests.toSorted()).toEqual([`${expected}metrics`, `${expected}traces`]);
    for (const { name, kind, unit } of Object.values(GATEWAY_INSTRUMENTS))
      expect(metric(name)).toMatchObject({ name, kind, unit });
    const scope = { provider: 'openai', model: 'gpt-4o', org_id: 'org-a', workspace_id: 'ws-a', route: '/openai/*' };
    expect(metric('svc.proxy.request_total').points).toMatchObject([
      { attributes: { ...scope, status_code: 200 }, value: 1 },
      { attributes: { ...scope, status_code: 429 }, value: 1 },
    ]);
    expect(metric('svc.provider.request_total').points).toMatchObject([{ attributes: { ...scope, status_code: 200 }, value: 1 }]);
    expect(metric('svc.trace.queue_dropped_total').points).toMatchObject([
      { attributes: { ...scope, status_code: 200 }, value: 1 },
      { attributes: { ...scope, status_code: 429 }, value: 0 },
    ]);
    expect(metric('svc.trace.write_failed_total').points).toMatchObject([
      { attributes: { operation: 'write_batch_fallback', error_class: 'contention', store: 'sqlite' }, value: 2 },
    ]);
    expect(metric('svc.trace.enqueued_total').points).toMatchObject([{ attributes: {}, value: 11 }]);
    expect(metric('svc.trace.written_total').points).toMatchObject([{ value: 7 }]);
    expect(metric('svc.trace.queue_depth').points).toMatchObject([{ value: 3 }]);
    expect(metric('svc.trace.queue_capacity').points).toMatchObject([{ value: 4096 }]);
    expect(metric('svc.trace.flush_duration_seconds').points).toMatchObject([
      { count: 1, bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1] },
    ]);
    expect(metric('svc.trace.flush_batch_size').points).toMatchObject([{ count: 1, sum: 256 }]);
    const ids = { traceId: span.traceId, spanId: span.spanId };
    expect(metric('svc.proxy.request_duration_seconds').points).toMatchObject([
      {
        attributes: scope,
        count: 2,
        bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
        counts: [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        exemplars: [{ ...ids, value: 0.042 }],
      },
    ]);
    expect(metric('svc.provider.request_duration_seconds').points).toMatchObject([
      { count: 1, exemplars: [{ ...ids, value: 0.03 }] },
    ]);
    expect(metric('svc.proxy.request_total').resource).toMatchObject({
      'service.name': 'svc-gateway',
      'service.version': '1.2.3',
    });
    expect(collector.metrics.some(({ name }) => name.startsWith('gen_ai.'))).toBe(false);
    expect(trouble).toEqual([]);
  });

  test('an exemplar is pushed once', async () => {
    const telemetry = await start({ metric_export_interval_ms: 20, export_timeout_ms: 20 });
    await recordAll(telemetry);
    await waitUntil(() => collector.metricExports.length >= 3, { what: 'three pushes' });
    const pushed = collector.metricExports.flatMap((metrics) =>
      metrics
        .filter(({ name }) => name === 'svc.proxy.request_duration_seconds')
        .flatMap(({ points }) => points.flatMap((point) => point.exemplars)),
    );
    expect(pushed).toHaveLength(1);
  });

  test('scraped as OpenMetrics: a strict parser takes it, with exemplars', async () => {
    const telemetry = await start();
    const span = await recordAll(telemetry);
    const { body, contentType } = await telemetry.scrape!(OPEN_METRICS);
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    const families = parseScrape(body, 'openmetrics');
    const { samples } = family(families, 'svc_proxy_request_duration_seconds');
    const withExemplar = samples.filter(({ exemplar }) => exemplar !== undefined);
    expect(withExemplar).toMatchObject([
      { labels: { le: '0.05' }, exemplar: { labels: { trace_id: span.traceId, span_id: span.spanId }, value: 0.042 } },
    ]);
    expect(family(families, 'svc_trace_enqueued').samples).toEqual([{ name: 'svc_trace_enqueued_total', labels: {}, value: 11 }]);
    expect(family(families, 'target').samples[0]?.labels).toMatchObject({
      service_name: 'svc-gateway',
      service_version: '1.2.3',
    });
  });

  test.each([
    undefined,
    'text/plain',
    '*/*',
    'application/openmetrics-text;q=0',
    'text/plain, application/openmetrics-text;q=0.1',
  ])('scraped with Accept %s: the classic text without exemplars, and the same numbers', async (accept) => {
    const telemetry = await start();
    await recordAll(telemetry);
    const { body, contentType } = await telemetry.scrape!(accept);
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    const families = parseScrape(body, 'classic');
    for (const { name, unit, kind } of Object.values(GATEWAY_INSTRUMENTS))
      expect(family(families, scrapeName(name, unit, kind))).toMatchObject({ type: kind });
    const labels = { provider: 'openai', model: 'gpt-4o', org_id: 'org-a', workspace_id: 'ws-a', route: '/openai/*' };
    expect(family(families, 'svc_trace_queue_dropped_total').samples).toMatchObject([
      { value: 1, labels: { ...labels, status_code: '200' } },
      { value: 0, labels: { ...labels, status_code: '429' } },
    ]);
  });

  test('push and scrape read one meter provider: they say the same', async () => {
    const telemetry = await start();
    await recordAll(telemetry);
    const families = parseScrape((await telemetry.scrape!(OPEN_METRICS)).body, 'openmetrics');
    await telemetry.flushMetrics();
    for (const { name, unit, kind } of Object.values(GATEWAY_INSTRUMENTS)) {
      const pushed = metric(name).points.map((point) => point.value ?? point.count);
      const scraped = family(families, scrapeName(name, unit, kind).replace(/_total$/, '')).samples;
      const values = scraped.filter((sample) => !/_(bucket|sum)$/.test(sample.name)).map((sample) => sample.value);
      expect([name, values]).toEqual([name, pushed]);
    }
  });

  test('counters of a declared provider are there at 0, and so are the drops of everything that has been seen', async () => {
    const telemetry = await start();
    telemetry.metrics!.declareProvider('openai', '/openai/*');
    telemetry.metrics!.declareProvider('openai', '/openai/*');
    telemetry.metrics!.requestEnded({ ...LABELS, provider: undefined, route: '/other', status: 404, ...UNSENT }, undefined);
    telemetry.metrics!.requestEnded({ ...LABELS, status: 401, ...UNSENT }, undefined);
    const families = parseScrape((await telemetry.scrape!(undefined)).body, 'classic');
    const seen = (name: string) =>
      family(families, name).samples.map(({ labels, value }) => [labels['model'], labels['status_code'], value]);
    expect({
      proxy: seen('svc_proxy_request_total'),
      provider: seen('svc_provider_request_total'),
      dropped: seen('svc_trace_queue_dropped_total'),
    }).toEqual({
      proxy: [
        ['unknown', '200', 0],
        ['gpt-4o', '404', 1],
        ['gpt-4o', '401', 1],
      ],
      provider: [['unknown', '200', 0]],
      dropped: [
        ['unknown', '200', 0],
        ['gpt-4o', '401', 0],
      ],
    });
  });

  test('runtime metrics carry the names of Node', async () => {
    const telemetry = await start();
    await waitUntil(async () => (await telemetry.scrape!(undefined)).body.includes('nodejs_eventloop_delay_p99_seconds'), {
      what: 'the event loop to be measured',
    });
    const names = parseScrape((await telemetry.scrape!(undefined)).body, 'classic').map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['nodejs_eventloop_utilization_ratio', 'v8js_memory_heap_used_bytes']));
  });

  test('the GenAI attributes and metrics are there when they are switched on', async () => {
    const telemetry = await start({ genai: true });
    await recordAll(telemetry);
    await Promise.all([telemetry.flushSpans(), telemetry.flushMetrics()]);
    expect(named('proxy POST /openai/*').attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
    });
    for (const { name, kind, unit } of Object.values(GENAI_INSTRUMENTS)) expect(metric(name)).toMatchObject({ name, kind, unit });
    expect(
      metric('gen_ai.client.token.usage').points.map(({ attributes, sum }) => [attributes['gen_ai.token.type'], sum]),
    ).toEqual([
      ['input', 100],
      ['output', 20],
    ]);
    expect(metric('gen_ai.client.operation.duration').points[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
    });
  });

  test('labels are trimmed, scrubbed, and unknown when missing', async () => {
    const telemetry = await start();
    const labels = { provider: undefined, model: ` ${CANARY} `, org_id: ' org ', workspace_id: '', route: '/openai/*' };
    telemetry.metrics!.requestEnded({ ...labels, status: 200, durationMs: 1, providerMs: 1 }, undefined);
    // The same labels, written in another way: one series.
    telemetry.metrics!.requestEnded({ ...labels, org_id: 'org', status: 200, durationMs: 1, providerMs: 1 }, undefined);
    const families = parseScrape((await telemetry.scrape!(undefined)).body, 'classic');
    expect(family(families, 'svc_proxy_request_total').samples).toEqual([
      {
        name: 'svc_proxy_request_total',
        value: 2,
        labels: {
          provider: 'unknown',
          model: '[CREDENTIAL_REDACTED]',
          org_id: 'org',
          workspace_id: 'unknown',
          route: '/openai/*',
          status_code: '200',
        },
      },
    ]);
  });
});

describe('a collector that is slow or gone', () => {
  test.each(PROTOCOLS)('over %s: spans are held up to a bound, the rest is counted, and nobody is troubled', async (protocol) => {
    collector.behaviour = 'hang';
    const own = { protocol, endpoint: endpointOf(protocol), export_timeout_ms: 200, metrics_enabled: false };
    const telemetry = await start(own);
    for (let i = 0; i < 4_000; i += 1) proxied(telemetry);
    const { exported, failed, dropped } = telemetry.spanCounts;
    expect(exported).toBe(0);
    expect(dropped).toBeGreaterThanOrEqual(20_000 - 16_384 - failed);
    await telemetry.flushSpans();
    await waitUntil(() => telemetry.spanCounts.failed + telemetry.spanCounts.dropped === 20_000, {
      what: 'every span to be counted',
    });
    const families = parseScrape((await telemetry.scrape!(undefined)).body, 'classic');
    const counted = family(families, 'svc_telemetry_spans_total').samples.reduce((sum, { value }) => sum + value, 0);
    expect(counted).toBe(20_000);
  });

  test.each(['refuse', 'hang'] as const)('%s: flushing ends by itself within the timeout and does not reject', async (mood) => {
    collector.behaviour = mood;
    const telemetry = await start({ export_timeout_ms: 100, metric_export_interval_ms: 100 });
    proxied(telemetry);
    await telemetry.flushSpans();
    await telemetry.flushMetrics();
    expect(telemetry.spanCounts).toEqual({ exported: 0, failed: 5, dropped: 0 });
    expect(trouble.join('\n')).toMatch(/spans could not be exported/);
  });

  test.each(PROTOCOLS)('over %s: what has arrived makes room', async (protocol) => {
    const telemetry = await start({ protocol, endpoint: endpointOf(protocol), metrics_enabled: false });
    for (let sent = 0; sent < 20_000; sent += 5_000) {
      for (let i = 0; i < 1_000; i += 1) proxied(telemetry);
      await waitUntil(() => telemetry.spanCounts.exported >= sent + 4_096, { what: 'full batches' });
    }
    await telemetry.flushSpans();
    expect(telemetry.spanCounts).toEqual({ exported: 20_000, failed: 0, dropped: 0 });
    expect(collector.spans).toHaveLength(20_000);
  });

  test('when the collector is back, what comes then arrives', async () => {
    collector.behaviour = 'refuse';
    const telemetry = await start({ metrics_enabled: false });
    proxied(telemetry);
    await waitUntil(() => telemetry.spanCounts.failed === 5, { what: 'the refusal' });
    collector.behaviour = 'accept';
    proxied(telemetry);
    await waitUntil(() => telemetry.spanCounts.exported === 5, { what: 'the spans' });
  });
});

test('what is off is not there', async () => {
  const telemetry = await start({ enabled: false });
  expect([telemetry.spans, typeof telemetry.metrics, typeof telemetry.scrape]).toEqual([undefined, 'object', 'function']);
  telemetry[Symbol.dispose]();
  running = undefined;
  expect(await start({ enabled: false, prometheus_enabled: false })).toBeUndefined();
});
