import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseScrape, type ScrapeFamily } from '@vitrine/testkit/parse-scrape';
import { TelemetryFixture } from '@vitrine/testkit/telemetry-fixture';
import { scrapeName } from '@vitrine/telemetry/metrics/scrape-text';
import { GATEWAY_INSTRUMENTS } from '../testing/gateway-instruments.ts';
import { readTestOtelConfig } from '../testing/read-test-otel-config.ts';
import { GENAI_INSTRUMENTS } from './metrics/instruments.ts';
import type { RequestSpan, SpanEnd } from './spans/request-span.ts';
import { startGatewayTelemetry, type GatewayTelemetry } from './start-gateway-telemetry.ts';

const CANARY = 'sk-proj-canary0123456789';
const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const TENANT = { org_id: 'org-a', workspace_id: 'ws-a' };
const LABELS = { provider: 'openai', model: 'gpt-4o', ...TENANT, route: '/openai/*' };

/** Of a request that was sent to no provider. */
const UNSENT = { durationMs: 1, providerMs: undefined };

const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'];

const fixture = new TelemetryFixture<GatewayTelemetry>();

beforeEach(() => fixture.open());
afterEach(() => fixture.close());

async function start(yaml: Record<string, unknown> = {}): Promise<Required<GatewayTelemetry>> {
  const config = readTestOtelConfig({ enabled: true, prometheus_enabled: true, endpoint: fixture.collector.url, ...yaml });
  return fixture.run((onExportError) => startGatewayTelemetry({ config, version: '1.2.3', onExportError }));
}

/** Records the spans of a proxied request. */
function proxied(
  telemetry: Required<GatewayTelemetry>,
  end: Partial<SpanEnd> = {},
  headers: Record<string, string> = {},
): RequestSpan {
  const span = telemetry.spans!.begin(performance.now(), 'POST', '/openai/*', headers);
  span.authenticated(performance.now(), performance.now(), {
    ...TENANT,
    key_id: 'gk_1',
    role: 'developer',
    correlationId: 'corr-1',
  });
  span.startUpstream(performance.now(), { provider: 'openai', operation: 'chat' });
  span.finish(performance.now(), { ...TENANT, status: 200, provider: 'openai', upstreamStatus: 200, model: 'gpt-4o', ...end });
  span.enqueued(performance.now(), performance.now(), true, TENANT);
  return span;
}

const family = (families: readonly ScrapeFamily[], name: string) => families.find((one) => one.name === name) as ScrapeFamily;

describe('spans', () => {
  test('of a proxied request have the names, kinds, attributes and parents of the specification', async () => {
    const telemetry = await start();
    proxied(telemetry);
    await telemetry.flushSpans();
    const server = fixture.span('POST /openai/*');
    expect(fixture.collector.spans).toHaveLength(5);
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
    expect(fixture.span('proxy POST /openai/*')).toMatchObject({
      kind: 3,
      status: { code: 0 },
    });
    expect(fixture.span('proxy POST /openai/*').attributes).toEqual({ 'http.response.status_code': 200 });
    expect(fixture.span('gateway.auth').attributes).toEqual({ 'gateway.auth.result': 'allow' });
    expect(fixture.span('gateway.route').attributes).toEqual({
      'gateway.route.provider': 'openai',
      'gateway.route.prefix': '/openai',
      'gateway.org_id': 'org-a',
      'gateway.workspace_id': 'ws-a',
    });
    expect(fixture.span('gateway.trace.enqueue').attributes).toEqual({
      'gateway.trace.enqueue.result': 'accepted',
      'gateway.org_id': 'org-a',
      'gateway.workspace_id': 'ws-a',
    });
    const children = fixture.collector.spans.filter((span) => span !== server);
    for (const span of children) expect(span).toMatchObject({ traceId: server.traceId, parentSpanId: server.spanId });
    for (const span of fixture.collector.spans) {
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
    expect(fixture.span('proxy POST /openai/*').status).toEqual({ code: upstream, message });
    expect(fixture.span('gateway.route').status.code).toBe(route);
    expect(fixture.span('POST /openai/*').status.code).toBe(route);
  });

  test.each([
    ['unauthorized', { 'gateway.auth.result': 'deny', 'gateway.auth.deny_reason': 'unauthorized' }],
    ['forbidden', { 'gateway.auth.result': 'deny', 'gateway.auth.deny_reason': 'forbidden' }],
    ['unavailable', { 'gateway.auth.result': 'deny' }],
  ] as const)('%s: a denial is an error with its reason, and the server span has no caller', async (reason, expected) => {
    const telemetry = await start();
    const span = telemetry.spans!.begin(performance.now(), 'GET', '/api/*', {});
    span.authenticated(performance.now(), performance.now(), reason);
    span.finish(performance.now(), { org_id: undefined, workspace_id: undefined, status: 401, provider: undefined });
    await telemetry.flushSpans();
    expect(fixture.span('gateway.auth')).toMatchObject({ attributes: expected, status: { code: 2 } });
    expect(Object.keys(fixture.span('GET /api/*').attributes).filter((key) => key.startsWith('gateway.'))).toEqual([]);
    expect(fixture.span('gateway.route').attributes).toMatchObject({
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
    expect(fixture.span('gateway.trace.enqueue')).toMatchObject({
      attributes: { 'gateway.trace.enqueue.result': 'dropped' },
      status: { code: 2, message: 'trace dropped' },
    });
    const writes = fixture.collector.spans.filter((span) => span.name === 'gateway.trace.write');
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

  test.each(PROTOCOLS)('over %s no span contains a credential, wherever it was sent', async (protocol) => {
    const telemetry = await start({ protocol, endpoint: fixture.endpointOf(protocol), service_name: `svc ${CANARY}` });
    const headers = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: `vendor=${CANARY}`,
    };
    proxied(telemetry, { model: CANARY, upstreamError: `refused Bearer ${CANARY}` }, headers);
    await telemetry.flushSpans();
    expect(fixture.collector.spans).toHaveLength(5);
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

  test('a sampled parent is respected at ratio 0, and the upstream gets the client span', async () => {
    const telemetry = await start({ sampling_ratio: 0 });
    const span = telemetry.spans!.begin(performance.now(), 'POST', '/openai/*', parent('01'));
    const sent = span.startUpstream(performance.now(), { provider: 'openai', operation: 'chat' });
    span.finish(performance.now(), { ...TENANT, status: 200, provider: 'openai', upstreamStatus: 200 });
    await telemetry.flushSpans();
    expect(fixture.span('POST /openai/*')).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
    });
    const client = fixture.span('proxy POST /openai/*');
    expect([sent, span.traceState]).toEqual([`00-0af7651916cd43dd8448eb211c80319c-${client.spanId}-01`, 'a=1']);
    expect(span.sampledIds).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c' });
  });

  test('an unsampled parent is respected at ratio 1: nothing is exported, and the provider gets the same decision', async () => {
    const telemetry = await start();
    const span = proxied(telemetry, {}, parent('00'));
    expect(span.sampledIds).toBeUndefined();
    expect(span.startUpstream(performance.now(), { provider: 'openai', operation: undefined })).toMatch(
      /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/,
    );
    await telemetry.flushSpans();
    expect(fixture.collector.spans).toEqual([]);
  });
});

describe('metrics', () => {
  async function recordAll(telemetry: Required<GatewayTelemetry>): Promise<RequestSpan> {
    const metrics = telemetry.metrics!;
    const span = proxied(telemetry);
    metrics.observeQueue({ depth: 3, capacity: 4096, counters: { enqueueAccepted: 11, written: 7 } }, undefined);
    metrics.requestEnded({ ...LABELS, status: 200, durationMs: 42, providerMs: 30 }, span.sampledIds);
    metrics.requestEnded({ ...LABELS, status: 429, durationMs: 1, providerMs: undefined }, undefined);
    metrics.traceDropped(LABELS, 200);
    metrics.writeFailed(2, { operation: 'write_batch_fallback', error_class: 'contention', store: 'sqlite' });
    metrics.flushed(256, 3);
    metrics.genai?.operationEnded(
      { operation: 'chat', provider: 'openai', requestModel: 'gpt-4o' },
      { durationMs: 30, firstChunkMs: 10, errorType: undefined },
    );
    metrics.genai?.tokensUsed({ operation: 'chat', provider: 'openai', requestModel: 'gpt-4o' }, { input: 100, output: 20 });
    return span;
  }

  test.each(PROTOCOLS)('pushed over %s: the 12 instruments, their attributes and exemplars', async (protocol) => {
    const telemetry = await start({ protocol, endpoint: fixture.endpointOf(protocol) });
    const span = await recordAll(telemetry);
    await telemetry.flushMetrics();
    await telemetry.flushSpans();
    const expected = { 'http/protobuf': 'http/protobuf /v1/', 'http/json': 'http/json /v1/', grpc: 'grpc ' }[protocol] ?? '';
    expect(fixture.collector.requests.toSorted()).toEqual([`${expected}metrics`, `${expected}traces`]);
    for (const { name, kind, unit } of Object.values(GATEWAY_INSTRUMENTS))
      expect(fixture.metric(name)).toMatchObject({ name, kind, unit });
    const scope = { provider: 'openai', model: 'gpt-4o', org_id: 'org-a', workspace_id: 'ws-a', route: '/openai/*' };
    expect(fixture.metric('svc.proxy.request_total').points).toMatchObject([
      { attributes: { ...scope, status_code: 200 }, value: 1 },
      { attributes: { ...scope, status_code: 429 }, value: 1 },
    ]);
    expect(fixture.metric('svc.provider.request_total').points).toMatchObject([
      { attributes: { ...scope, status_code: 200 }, value: 1 },
    ]);
    expect(fixture.metric('svc.trace.queue_dropped_total').points).toMatchObject([
      { attributes: { ...scope, status_code: 200 }, value: 1 },
      { attributes: { ...scope, status_code: 429 }, value: 0 },
    ]);
    expect(fixture.metric('svc.trace.write_failed_total').points).toMatchObject([
      { attributes: { operation: 'write_batch_fallback', error_class: 'contention', store: 'sqlite' }, value: 2 },
    ]);
    expect(fixture.metric('svc.trace.enqueued_total').points).toMatchObject([{ attributes: {}, value: 11 }]);
    expect(fixture.metric('svc.trace.written_total').points).toMatchObject([{ value: 7 }]);
    expect(fixture.metric('svc.trace.queue_depth').points).toMatchObject([{ value: 3 }]);
    expect(fixture.metric('svc.trace.queue_capacity').points).toMatchObject([{ value: 4096 }]);
    expect(fixture.metric('svc.trace.flush_duration_seconds').points).toMatchObject([
      { count: 1, bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1] },
    ]);
    expect(fixture.metric('svc.trace.flush_batch_size').points).toMatchObject([{ count: 1, sum: 256 }]);
    const ids = { traceId: span.traceId, spanId: span.spanId };
    expect(fixture.metric('svc.proxy.request_duration_seconds').points).toMatchObject([
      {
        attributes: scope,
        count: 2,
        bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
        counts: [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        exemplars: [{ ...ids, value: 0.042 }],
      },
    ]);
    expect(fixture.metric('svc.provider.request_duration_seconds').points).toMatchObject([
      { count: 1, exemplars: [{ ...ids, value: 0.03 }] },
    ]);
    expect(fixture.metric('svc.proxy.request_total').resource).toMatchObject({
      'service.name': 'svc-gateway',
      'service.version': '1.2.3',
    });
    expect(fixture.collector.metrics.some(({ name }) => name.startsWith('gen_ai.'))).toBe(false);
    expect(fixture.exportErrors).toEqual([]);
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

  test('push and scrape read one meter provider and return the same', async () => {
    const telemetry = await start();
    await recordAll(telemetry);
    const families = parseScrape((await telemetry.scrape!(OPEN_METRICS)).body, 'openmetrics');
    await telemetry.flushMetrics();
    for (const { name, unit, kind } of Object.values(GATEWAY_INSTRUMENTS)) {
      const pushed = fixture.metric(name).points.map((point) => point.value ?? point.count);
      const scraped = family(families, scrapeName(name, unit, kind).replace(/_total$/, '')).samples;
      const values = scraped.filter((sample) => !/_(bucket|sum)$/.test(sample.name)).map((sample) => sample.value);
      expect([name, values]).toEqual([name, pushed]);
    }
  });

  test('counters of a declared provider exist at 0, and so do the drops of every series seen', async () => {
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

  test('the GenAI attributes and metrics are present when enabled', async () => {
    const telemetry = await start({ genai: true });
    await recordAll(telemetry);
    await Promise.all([telemetry.flushSpans(), telemetry.flushMetrics()]);
    expect(fixture.span('proxy POST /openai/*').attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
    });
    for (const { name, kind, unit } of Object.values(GENAI_INSTRUMENTS))
      expect(fixture.metric(name)).toMatchObject({ name, kind, unit });
    expect(
      fixture.metric('gen_ai.client.token.usage').points.map(({ attributes, sum }) => [attributes['gen_ai.token.type'], sum]),
    ).toEqual([
      ['input', 100],
      ['output', 20],
    ]);
    expect(fixture.metric('gen_ai.client.operation.duration').points[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
    });
  });

  test('labels are trimmed, scrubbed, and unknown when missing', async () => {
    const telemetry = await start();
    const labels = { provider: undefined, model: ` ${CANARY} `, org_id: ' org ', workspace_id: '', route: '/openai/*' };
    telemetry.metrics!.requestEnded({ ...labels, status: 200, durationMs: 1, providerMs: 1 }, undefined);
    // The same labels in another spelling are one series.
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
