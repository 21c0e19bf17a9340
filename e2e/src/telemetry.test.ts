import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { startTestCollector, type TestCollector } from '@vitrine/testkit/test-collector';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startLoad } from './client-load.ts';
import { startGateway, type RunningGateway } from './running-gateway.ts';

const CLIENTS = 8;
/** The specification's budget of one step of a shutdown, plus an allowance for a busy machine. */
const STEP_MS = 5_000;
const SLACK_MS = 2_500;
/** Server, client, route, enqueue: no request needs a key. */
const SPANS_OF_A_REQUEST = 4;
/** With these, more than the 16,384 spans that may wait for the collector. */
const REQUESTS_THAT_FILL = 4_500;

let opened: AsyncDisposableStack;
let collector: TestCollector;
let upstream: string;
let folder: string;

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  folder = opened.use(await temporaryFolder('telemetry')).path;
  upstream = opened.use(await startMockOpenai()).url;
  collector = opened.use(await startTestCollector());
});
afterEach(async () => opened.disposeAsync());

async function start(variables: Record<string, string> = {}): Promise<RunningGateway> {
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SVC_PROMETHEUS_ENABLED: 'true' };
  return opened.use(await startGateway({ folder, upstream, variables: { ...on, ...variables } }));
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** The latencies of another `requests` requests. */
async function load(gateway: RunningGateway, requests: number, name: string): Promise<readonly number[]> {
  await using clients = startLoad(gateway.url, CLIENTS, name);
  await waitUntil(() => clients.completed.length >= requests, { what: `${requests} responses`, timeoutMs: 60_000 });
  await clients.stop();
  expect(clients.refused).toEqual([]);
  return clients.latenciesMs;
}

async function spansBy(gateway: RunningGateway, result: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(new RegExp(`svc_telemetry_spans_total{result="${result}"} (\\d+)`).exec(text)?.[1]);
}

test('a collector that never responds slows no request, uses bounded memory, and delays the end only by its steps', async () => {
  const gateway = await start({ OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
  await load(gateway, 1_000, 'warm-up');
  const normal = await load(gateway, 1_000, 'normal');
  collector.behaviour = 'hang';
  await load(gateway, REQUESTS_THAT_FILL, 'filling');
  await waitUntil(async () => (await spansBy(gateway, 'dropped')) > 0, { what: 'spans that found no room' });
  const dropped = await spansBy(gateway, 'dropped');
  const hung = await load(gateway, 1_000, 'hung');
  expect(median(hung)).toBeLessThan(2 * median(normal));
  // New spans are not kept.
  expect((await spansBy(gateway, 'dropped')) - dropped).toBeGreaterThanOrEqual(1_000 * SPANS_OF_A_REQUEST);

  const before = performance.now();
  gateway.process.signal('SIGTERM');
  expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
  expect(performance.now() - before).toBeLessThan(2 * STEP_MS + SLACK_MS);
  for (const step of ['flush spans', 'flush metrics'])
    expect(gateway.process.stdout).toMatch(new RegExp(`"step":"${step}".*shutdown step failed`));
});

test('SIGTERM under load: the collector has every span and the last count of every request', async () => {
  const gateway = await start({ OTEL_METRIC_EXPORT_INTERVAL: '600000', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' });
  await using clients = startLoad(gateway.url, CLIENTS);
  await waitUntil(() => clients.completed.length > 500, { what: 'the load to be under way' });
  gateway.process.signal('SIGTERM');
  expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
  await clients.stop();
  const named = (name: string) => collector.spans.filter((span) => span.name === name).length;
  const sum = (name: string) =>
    (collector.metrics.find((metric) => metric.name === name)?.points ?? [])
      .filter(({ attributes }) => (attributes['route'] ?? '/openai/*') === '/openai/*')
      .reduce((total, { value = 0 }) => total + value, 0);
  const requests = named('POST /openai/*');
  expect(requests).toBeGreaterThanOrEqual(clients.completed.length);
  expect([named('proxy POST /openai/*'), named('gateway.route'), named('gateway.trace.enqueue')]).toEqual([
    requests,
    named('POST /openai/*') + named('GET /api/*'),
    requests,
  ]);
  for (const name of [
    'svc.proxy.request_total',
    'svc.provider.request_total',
    'svc.trace.enqueued_total',
    'svc.trace.written_total',
  ])
    expect([name, sum(name)]).toEqual([name, requests]);
  // Compression is not among the specification's settings: the exporters read it themselves.
  expect([...new Set(collector.requests)].toSorted()).toEqual([
    'http/protobuf+gzip /v1/metrics',
    'http/protobuf+gzip /v1/traces',
  ]);
});

test.each(['http/protobuf', 'grpc'])(
  'over %s the headers of the environment reach the collector of each signal, and no log',
  async (protocol) => {
    const addressOf = (signal: string) => (protocol === 'grpc' ? collector.grpcUrl : `${collector.url}/own/${signal}`);
    const gateway = await start({
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: addressOf('traces'),
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: addressOf('metrics'),
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20canary-both',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=Bearer%20canary-traces',
      SVC_LOG_LEVEL: 'trace',
    });
    await load(gateway, 10, 'few');
    const diagnostics = await (await fetch(`${gateway.url}/api/diagnostics/trace-pipeline`)).text();
    gateway.process.signal('SIGTERM');
    expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
    const sent = collector.requests.map((how, i) => [how, collector.requestHeaders[i]?.['authorization']].join(' '));
    const how = protocol === 'grpc' ? 'grpc ' : 'http/protobuf /own/';
    expect([...new Set(sent)].toSorted()).toEqual([`${how}metrics Bearer canary-both`, `${how}traces Bearer canary-traces`]);
    expect(gateway.process.stdout).toContain('is listening');
    for (const text of [gateway.process.stdout, gateway.process.stderr, diagnostics]) expect(text).not.toContain('canary-');
  },
);

test('OTEL_SDK_DISABLED stops everything', async () => {
  const gateway = await start({ OTEL_SDK_DISABLED: 'true' });
  await load(gateway, 10, 'quiet');
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
  gateway.process.signal('SIGTERM');
  expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
  expect(collector.requests).toEqual([]);
});
