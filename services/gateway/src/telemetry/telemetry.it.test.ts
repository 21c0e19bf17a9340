import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CollectedMetric, CollectedSpan } from '@vitrine/testkit/collected-telemetry';
import { parseScrape, type ScrapeFamily } from '@vitrine/testkit/parse-scrape';
import { startTestCollector, type TestCollector } from '@vitrine/testkit/test-collector';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TraceDetail } from '@vitrine/traces/trace';
import { CLOSE_REASONS } from '@vitrine/http-api/connections/client-connections';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { rawExchange, type RawResponse } from '../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

// Telemetry as a collector receives it. Names, attributes and buckets are tested in start-gateway-telemetry.it.test.ts.

const token = (name: string) => `${name}-token-0123456789-0123456789`;
const key = (id: string, role: string) => `{id: ${id}, token: ${token(id)}, org_id: acme, workspace_id: search, role: ${role}}`;
const AUTH = `auth: {enabled: true, keys: [${key('one', 'developer')}, ${key('viewer', 'viewer')}]}`;
const PARENT = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const TRACEPARENT = `00-${PARENT.traceId}-${PARENT.spanId}-01`;
const CANARY = 'sk-proj-canary0123456789';
const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0';
const TENANT = { 'gateway.org_id': 'acme', 'gateway.workspace_id': 'search' };

const jsonChat = (more: object = {}) => Buffer.from(JSON.stringify({ messages: [], ...more, model: 'gpt-4o-mini' }));
const STREAM = jsonChat({ stream: true, stream_options: { include_usage: true } });

let collector: TestCollector;
let gateway: TestGateway;

beforeEach(async () => {
  collector = await startTestCollector();
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

async function start(yaml = AUTH, variables: Record<string, string> = {}): Promise<void> {
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SVC_PROMETHEUS_ENABLED: 'true' };
  gateway = await startTestGateway({ ...on, ...variables }, yaml);
}

interface Sent {
  readonly by?: string;
  readonly path?: string;
  readonly body?: Buffer;
  readonly headers?: Record<string, string>;
}

function send({
  by = 'one',
  path = '/openai/v1/chat/completions',
  body = jsonChat(),
  headers = {},
}: Sent = {}): Promise<RawResponse> {
  const own = { 'x-svc-gateway-key': token(by), authorization: `Bearer ${CANARY}`, 'content-type': 'application/json' };
  return rawExchange(gateway.url + path, { headers: { ...own, ...headers }, body });
}

const scenario = (name: string, more: Sent = {}) => send({ ...more, headers: { ...more.headers, 'x-mock-scenario': name } });

/** Spans are exported at the latest when the gateway stops. */
async function spansOnceStopped(): Promise<readonly CollectedSpan[]> {
  await gateway[Symbol.asyncDispose]();
  return collector.spans;
}

/** The spans of the one request with this end, after the gateway has stopped. */
async function spansOf(name: string, status: number): Promise<readonly CollectedSpan[]> {
  const spans = await spansOnceStopped();
  const servers = spans.filter((span) => span.name === name && span.attributes['http.response.status_code'] === status);
  expect(servers).toHaveLength(1);
  return spans.filter(({ traceId }) => traceId === servers[0]?.traceId);
}

function only(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.filter((span) => span.name === name);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0] as CollectedSpan;
}

async function scrape(accept = OPEN_METRICS): Promise<readonly ScrapeFamily[]> {
  const response = await fetch(`${gateway.url}/metrics`, { headers: { accept, 'x-svc-gateway-key': token('one') } });
  return parseScrape(await response.text(), accept === OPEN_METRICS ? 'openmetrics' : 'classic');
}

/** The samples of a counter, as `value of label values`, without zeros. */
async function counted(name: string, ...labels: readonly string[]): Promise<string[]> {
  const family = (await scrape()).find((one) => one.name === name);
  const texts = (family?.samples ?? []).map((sample) => [sample.value, ...labels.map((label) => sample.labels[label])].join(' '));
  return texts.filter((text) => !text.startsWith('0 ')).toSorted();
}

async function traceOf(count: number): Promise<TraceDetail> {
  const headers = { 'x-svc-gateway-key': token('one') };
  const get = async (path: string): Promise<unknown> => (await fetch(gateway.url + path, { headers })).json();
  const items = await waitUntil(
    async () => {
      const page = (await get('/api/traces')) as { items: { id: string }[] };
      return page.items.length >= count && page.items;
    },
    { what: 'the traces' },
  );
  return (await get(`/api/traces/${items[0]?.id}`)) as TraceDetail;
}

describe('the spans of an exchange', () => {
  test('join the trace of the client, and those of the provider join theirs', async () => {
    await start();
    const response = await send({ headers: { traceparent: TRACEPARENT, tracestate: 'a=1' } });
    expect(response.status).toBe(200);
    const trace = await traceOf(1);
    const spans = await spansOf('POST /openai/*', 200);
    expect(spans).toHaveLength(5);
    const server = only(spans, 'POST /openai/*');
    const client = only(spans, 'proxy POST /openai/*');
    expect(server).toMatchObject({ kind: 2, traceId: PARENT.traceId, parentSpanId: PARENT.spanId, status: { code: 0 } });
    expect(server.attributes).toEqual({
      ...TENANT,
      'gateway.correlation_id': expect.stringMatching(/^corr-/),
      'gateway.key_id': 'one',
      'gateway.role': 'developer',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'http.route': '/openai/*',
    });
    expect(client).toMatchObject({ kind: 3, attributes: { 'http.response.status_code': 200 }, status: { code: 0 } });
    expect(Object.keys(client.attributes)).toEqual(['http.response.status_code']);
    for (const name of ['proxy POST /openai/*', 'gateway.auth', 'gateway.route', 'gateway.trace.enqueue'])
      expect(only(spans, name)).toMatchObject({ traceId: PARENT.traceId, parentSpanId: server.spanId });
    expect(only(spans, 'gateway.auth').attributes).toEqual({ 'gateway.auth.result': 'allow' });
    expect(only(spans, 'gateway.route').attributes).toEqual({
      ...TENANT,
      'gateway.route.prefix': '/openai',
      'gateway.route.provider': 'openai',
    });
    expect(only(spans, 'gateway.trace.enqueue').attributes).toEqual({ ...TENANT, 'gateway.trace.enqueue.result': 'accepted' });
    const carried = gateway.openai.received[0]?.rawHeaders ?? [];
    const sent = (name: string) => carried.filter((_, i) => carried[i - 1]?.toLowerCase() === name && i % 2 === 1);
    expect([sent('traceparent'), sent('tracestate')]).toEqual([[`00-${PARENT.traceId}-${client.spanId}-01`], ['a=1']]);
    expect(trace.trace_group_id).toBe(PARENT.traceId);
    expect(trace.lineage).toMatchObject({ group_id: PARENT.traceId, checkpoint_id: trace.id, immutable: true });
  });

  test.each([
    ['status=503', 503, { code: 2, message: 'http 503' }, { code: 2, message: 'http 503' }],
    ['status=404', 404, { code: 0, message: '' }, { code: 0, message: '' }],
    ['reset', 502, { code: 2, message: 'reset' }, { code: 2, message: 'http 502' }],
  ])('%s: only a 5xx is an error', async (name, status, ofClient, ofRoute) => {
    await start();
    expect((await scenario(name)).status).toBe(status);
    const spans = await spansOf('POST /openai/*', status);
    expect(only(spans, 'proxy POST /openai/*').status).toEqual(ofClient);
    expect(only(spans, 'gateway.route').status).toEqual(ofRoute);
    expect(only(spans, 'POST /openai/*')).toMatchObject({ status: ofRoute, attributes: { 'http.response.status_code': status } });
  });

  test('a failure on the way to the provider is the error of its span, and its class is on the server span', async () => {
    await start();
    await scenario('reset');
    const spans = await spansOf('POST /openai/*', 502);
    const client = only(spans, 'proxy POST /openai/*');
    expect(client.status).toEqual({ code: 2, message: 'reset' });
    expect(client.attributes).toMatchObject({
      'error.type': 'reset',
      'gateway.upstream_error.detail': expect.stringMatching(/before the response$/),
    });
    const server = only(spans, 'POST /openai/*');
    expect(server).toMatchObject({
      status: { code: 2, message: 'http 502' },
      attributes: { 'error.type': 'reset', 'http.response.status_code': 502 },
    });
    const logged = gateway.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged.filter(({ msg }) => msg === 'upstream request failed')).toMatchObject([
      { upstream_error: 'reset', trace_id: server.traceId, span_id: server.spanId },
    ]);
  });

  test.each([
    ['anonymous', '/openai/v1/models', 'unauthorized', 401],
    ['viewer', '/openai/v1/models', 'forbidden', 403],
    ['anonymous', '/api/traces', 'unauthorized', 401],
  ])('%s at %s: a denial is an error with its reason, in a log line with its ids', async (by, path, reason, status) => {
    await start();
    const headers = { 'x-svc-gateway-key': token(by) };
    const response = await rawExchange(gateway.url + path, { method: 'GET', headers });
    expect(response.status).toBe(status);
    const denied = gateway.log.map((line) => JSON.parse(line) as Record<string, unknown>).find(({ msg }) => msg === 'denied');
    const spans = await spansOf(`GET /${path.split('/')[1]}/*`, status);
    const server = only(spans, `GET /${path.split('/')[1]}/*`);
    expect(only(spans, 'gateway.auth')).toMatchObject({
      attributes: { 'gateway.auth.result': 'deny', 'gateway.auth.deny_reason': reason },
      parentSpanId: server.spanId,
      status: { code: 2 },
    });
    expect(server.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': status,
      'http.route': `/${path.split('/')[1]}/*`,
    });
    expect(denied).toMatchObject({
      trace_id: server.traceId,
      span_id: server.spanId,
      audit: { correlation_id: expect.any(String) },
    });
    expect(spans.filter(({ name }) => name.startsWith('proxy '))).toEqual([]);
  });

  test('at ratio 0 nothing is exported, and the provider gets an unsampled context', async () => {
    await start(AUTH, { OTEL_TRACES_SAMPLER_ARG: '0' });
    await send();
    expect((await traceOf(1)).trace_group_id).toBeUndefined();
    expect(gateway.openai.received[0]?.rawHeaders.join('\n')).toMatch(/traceparent\n00-[0-9a-f]{32}-[0-9a-f]{16}-00/);
    expect(await spansOnceStopped()).toEqual([]);
  });

  test('with spans off, the trace context of a client passes unchanged', async () => {
    await start(AUTH, { OTEL_TRACES_EXPORTER: 'none' });
    await send({ headers: { traceparent: TRACEPARENT, tracestate: 'a=1' } });
    expect(gateway.openai.received[0]?.rawHeaders.join('\n')).toContain(`traceparent\n${TRACEPARENT}\ntracestate\na=1`);
  });
});

describe('metrics', () => {
  test('count requests by their labels, and only requests that reached a provider for it', async () => {
    await start(`${AUTH}\nlimits: {per_key: {requests_per_minute: 5}}`);
    await send();
    await send({ path: '/anthropic/v1/messages', body: Buffer.from('{"max_tokens":9,"messages":[],"model":"claude-x"}') });
    await scenario('status=503');
    await scenario('chunks=3', { body: STREAM });
    await scenario('reset');
    expect((await send()).status).toBe(429);
    await rawExchange(`${gateway.url}/openai/v1/models`, { method: 'GET' });
    await rawExchange(`${gateway.url}/nothing`, { method: 'GET' });
    const labels = ['provider', 'model', 'org_id', 'workspace_id', 'route', 'status_code'];
    const proxied = [
      '1 anthropic claude-x acme search /anthropic/* 200',
      '1 openai gpt-4o-mini acme search /openai/* 502',
      '1 openai gpt-4o-mini acme search /openai/* 503',
      '2 openai gpt-4o-mini acme search /openai/* 200',
    ];
    expect(await counted('svc_provider_request', ...labels)).toEqual(proxied);
    expect(await counted('svc_proxy_request', ...labels)).toEqual(
      [
        ...proxied,
        '1 openai unknown acme search /openai/* 429',
        '1 openai unknown unknown unknown /openai/* 401',
        '1 unknown unknown unknown unknown /other 404',
        // The scrape before this one, and the API's description, which the test fetches.
        '1 unknown unknown unknown unknown /api/* 200',
        '1 unknown unknown acme search /other 200',
      ].toSorted(),
    );
  });

  test('a client that leaves is a 499, unless it had received everything', async () => {
    await start(AUTH, { SVC_TRACING_CAPTURE_BODIES: 'true' });
    const leave = new AbortController();
    const headers = { 'x-svc-gateway-key': token('one'), authorization: 'Bearer x', 'content-type': 'application/json' };
    const begun = await fetch(`${gateway.url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'x-mock-scenario': 'endless' },
      body: STREAM,
      signal: leave.signal,
    });
    await begun.body?.getReader().read();
    leave.abort();
    await traceOf(1);
    expect(await counted('svc_provider_request', 'model', 'status_code')).toEqual(['1 gpt-4o-mini 499']);
  });

  test('exemplars point to exported spans', async () => {
    await start(AUTH, { OTEL_METRIC_EXPORT_INTERVAL: '50' });
    await send();
    const families = await scrape();
    const exemplars = ['svc_proxy_request_duration_seconds', 'svc_provider_request_duration_seconds'].map((name) =>
      families
        .find((family) => family.name === name)
        ?.samples.find(({ exemplar, labels }) => exemplar !== undefined && labels['route'] === '/openai/*'),
    );
    const server = await waitUntil(() => collector.spans.find(({ name }) => name === 'POST /openai/*'), { what: 'the span' });
    const ids = { trace_id: server.traceId, span_id: server.spanId };
    expect(exemplars.map((sample) => sample?.exemplar?.labels)).toEqual([ids, ids]);
    const pushed = await waitUntil(
      () =>
        collector.metricExports
          .flat()
          .filter(({ name, points }) => /request_duration/.test(name) && points.some((point) => point.exemplars.length > 0)),
      { what: 'the push' },
    );
    expect(pushed.flatMap(exemplarIds)).toContain(`${server.traceId} ${server.spanId}`);
  });

  test('batches, their failures and the queue have metrics', async () => {
    await start(AUTH, { SVC_QUEUE_CAPACITY: '1', OTEL_METRIC_EXPORT_INTERVAL: '50' });
    const blocker = new DatabaseSync(join(gateway.folder, 'traces.db'));
    blocker.exec('BEGIN IMMEDIATE');
    await send();
    await send();
    const dropped = ['1 openai gpt-4o-mini acme search /openai/* 200'];
    const labels = ['provider', 'model', 'org_id', 'workspace_id', 'route', 'status_code'];
    expect(await counted('svc_trace_queue_dropped', ...labels)).toEqual(dropped);
    expect(await counted('svc_trace_queue_depth')).toEqual(['1']);
    expect(await counted('svc_trace_queue_capacity')).toEqual(['1']);
    const failed = ['1 write_trace contention sqlite'];
    await waitUntil(async () => (await counted('svc_trace_write_failed', 'operation', 'error_class', 'store')).length > 0, {
      what: 'the failure',
    });
    expect(await counted('svc_trace_write_failed', 'operation', 'error_class', 'store')).toEqual(failed);
    blocker.exec('ROLLBACK');
    blocker.close();
    await send();
    await traceOf(1);
    expect([await counted('svc_trace_enqueued'), await counted('svc_trace_written')]).toEqual([['2'], ['1']]);
    const spans = await spansOnceStopped();
    expect(
      spans.filter(({ name }) => name === 'gateway.trace.write').map(({ attributes, status }) => [attributes, status]),
    ).toEqual([
      [
        { 'gateway.trace.write.batch_size': 1, 'gateway.trace.write.error_class': 'contention' },
        { code: 2, message: 'write failed' },
      ],
      [{ 'gateway.trace.write.batch_size': 1 }, { code: 0, message: '' }],
    ]);
    const results = spans.filter(({ name }) => name === 'gateway.trace.enqueue');
    expect(results.map(({ attributes, status }) => [attributes['gateway.trace.enqueue.result'], status.message])).toEqual([
      ['accepted', ''],
      ['dropped', 'trace dropped'],
      ['accepted', ''],
    ]);
  });

  test('with genai on, the metrics of the conventions are exported too', async () => {
    await start(`${AUTH}\nobservability: {otel: {genai: true}}`);
    await scenario('gzip', { headers: { 'accept-encoding': 'gzip' } });
    await scenario('chunks=3', { body: STREAM });
    const traces = await traceOf(2);
    expect(traces.total_tokens).toBeGreaterThan(0);
    const families = await scrape();
    const samples = (name: string) => families.find((family) => family.name === name)?.samples ?? [];
    const countsOf = (name: string) => samples(name).filter((sample) => sample.name.endsWith('_count'));
    const model = { gen_ai_operation_name: 'chat', gen_ai_provider_name: 'openai', gen_ai_request_model: 'gpt-4o-mini' };
    expect(countsOf('gen_ai_client_operation_duration_seconds')).toMatchObject([{ labels: model, value: 2 }]);
    expect(countsOf('gen_ai_client_operation_time_to_first_chunk_seconds')).toMatchObject([{ labels: model, value: 1 }]);
    expect(countsOf('gen_ai_client_token_usage').map(({ labels, value }) => [labels['gen_ai_token_type'], value])).toEqual([
      ['input', 2],
      ['output', 2],
    ]);
    const client = (await spansOnceStopped()).find(({ name }) => name === 'proxy POST /openai/*');
    expect(client?.attributes).toMatchObject({ 'gen_ai.request.model': 'gpt-4o-mini', 'gen_ai.operation.name': 'chat' });
  });
});

describe('before any event', () => {
  test('every counter exists at 0 in the scrape and in the push', async () => {
    await start('', { OTEL_METRIC_EXPORT_INTERVAL: '50' });
    const [openai, anthropic] = ['openai', 'anthropic'].map(
      (provider) => `0 ${provider} unknown unknown unknown /${provider}/* 200`,
    );
    const failures = ['write_trace', 'write_batch_fallback'].flatMap((operation) =>
      ['timeout', 'connection', 'contention', 'constraint', 'unknown'].map(
        (error_class) => `0 ${operation} ${error_class} sqlite`,
      ),
    );
    const expected: Record<string, readonly (string | undefined)[]> = {
      svc_trace_queue_dropped: [anthropic, openai],
      svc_proxy_request: [anthropic, openai],
      svc_provider_request: [anthropic, openai],
      svc_provider_retry: ['0 anthropic', '0 openai'],
      svc_trace_write_failed: failures.toSorted(),
      svc_trace_enqueued: ['0'],
      svc_trace_written: ['0'],
      svc_trace_bodies_omitted: ['0'],
      svc_trace_unknown_usage: ['anthropic', 'openai']
        .flatMap((provider) => ['unpriced', 'estimated', 'missing'].map((kind) => `0 ${provider} ${kind}`))
        .toSorted(),
      svc_telemetry_labels_collapsed: ['0 model', '0 set'],
      svc_server_connections_closed: CLOSE_REASONS.map((reason) => `0 ${reason}`).toSorted(),
    };
    const families = await scrape();
    const seen = Object.keys(expected).map((name) => [
      name,
      (families.find((family) => family.name === name)?.samples ?? [])
        .filter(({ labels }) => !/\/(other|api)/.test(labels['route'] ?? ''))
        .map(({ value, labels }) => [value, ...Object.values(labels)].join(' '))
        .toSorted(),
    ]);
    expect(Object.fromEntries(seen)).toEqual(expected);
    const spans = families.find(({ name }) => name === 'svc_telemetry_spans')?.samples ?? [];
    expect(spans.map(({ labels }) => labels['result'] ?? '').toSorted()).toEqual(['dropped', 'exported', 'failed']);
    const counters = families.filter(({ type, name }) => type === 'counter' && name.startsWith('svc_')).map(({ name }) => name);
    expect(counters.toSorted()).toEqual([...Object.keys(expected), 'svc_telemetry_spans'].toSorted());
    // The first push may come before the queue and the server exist.
    const isPushed = () => {
      const pushed = new Set(collector.metricExports.at(-1)?.map(({ name }) => name.replaceAll('.', '_')));
      return counters.every((name) => pushed.has(`${name}_total`));
    };
    await waitUntil(isPushed, { what: 'a push with every counter' });
  });
});

describe('the scrape', () => {
  const at = (path: string, init: RequestInit = {}) => fetch(gateway.url + path, init);
  const withKey = (name: string) => ({ headers: { 'x-svc-gateway-key': token(name) } });

  test('on the main port needs a key with analytics permission', async () => {
    await start();
    expect((await at('/metrics')).status).toBe(401);
    const response = await at('/metrics', withKey('viewer'));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(response.headers.get('x-svc-correlation-id')).toMatch(/^corr-/);
    expect(parseScrape(await response.text(), 'classic').map(({ name }) => name)).toContain('svc_trace_queue_depth');
    const wrong = await at('/metrics', { ...withKey('viewer'), method: 'POST' });
    expect([wrong.status, wrong.headers.get('allow'), await wrong.json()]).toEqual([
      405,
      'GET, HEAD',
      { error: 'method not allowed' },
    ]);
  });

  test('needs none when it is public, or authentication is off', async () => {
    await start(`${AUTH}\nobservability: {otel: {prometheus_public: true, prometheus_path: /scrape}}`);
    expect([(await at('/scrape')).status, (await at('/metrics')).status]).toEqual([200, 404]);
    await gateway[Symbol.asyncDispose]();
    await start('');
    expect((await at('/metrics')).status).toBe(200);
  });

  test('on a separate port serves nothing else and needs no key', async () => {
    await start(`${AUTH}\nobservability: {otel: {prometheus_port: 0}}`);
    const served = gateway.log
      .map((line) => JSON.parse(line) as { msg: string; url: string })
      .find(({ msg }) => msg === 'scrape endpoint listening');
    const own = new URL(served?.url ?? '');
    expect(own.pathname).toBe('/metrics');
    expect((await fetch(own)).status).toBe(200);
    expect((await fetch(own, { method: 'HEAD' })).headers.get('content-length')).toMatch(/^\d{4,}$/);
    expect([(await fetch(new URL('/api/health', own))).status, (await fetch(own, { method: 'DELETE' })).status]).toEqual([
      404, 405,
    ]);
    expect((await at('/metrics')).status).toBe(401);
  });

  test('does not exist unless enabled', async () => {
    await start('', { SVC_PROMETHEUS_ENABLED: 'false' });
    expect((await at('/metrics')).status).toBe(404);
  });
});

test('no span, metric or scrape contains a credential', async () => {
  await start('', { OTEL_METRIC_EXPORT_INTERVAL: '50' });
  const mark = 'canary0123456789';
  const headers = { 'x-svc-gateway-key': `sgk_${mark}`, traceparent: TRACEPARENT, tracestate: `vendor=${CANARY}` };
  const body = Buffer.from(JSON.stringify({ model: CANARY, user: CANARY, messages: [] }));
  await send({
    headers: { ...headers, 'x-svc-correlation-id': CANARY },
    body,
    path: `/openai/v1/chat/completions?api_key=${CANARY}`,
  });
  await send({ headers, body, path: `/openai/${CANARY}` });
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(text).toContain('[CREDENTIAL_REDACTED]');
  const spans = await spansOnceStopped();
  const all = JSON.stringify([spans, collector.metricExports, text], (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect(spans.length).toBeGreaterThan(5);
  expect(all).not.toContain(mark);
});

function exemplarIds({ points }: CollectedMetric): string[] {
  return points.flatMap(({ exemplars }) => exemplars.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
}
