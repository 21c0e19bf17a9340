import type { Telemetry } from '@vitrine/telemetry/otel/start-telemetry';

/** How the recorder is to run. */
export interface RecorderOrder {
  /** `observability.otel`; undefined for telemetry off. */
  readonly otel: Readonly<Record<string, unknown>> | undefined;
  readonly requests: number;
  readonly perSecond: number;
}

/** What it cost, exports and the last flush included. */
export interface RecorderAnswer {
  readonly cpuMicros: number;
  readonly rssMib: number;
  readonly exported: number;
  readonly lost: number;
}

const MODELS = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'text-embedding-3-small'];
const CALLER = { org_id: 'org-a', workspace_id: 'ws-a', key_id: 'gk_0123456789abcdef', role: 'developer' };
const NO_HEADERS = {};

process.on('message', (order: RecorderOrder) => void record(order).then((answer) => process.send?.(answer)));
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
process.send?.({ port: 0 });

/** Tells telemetry of requests at an even pace, as the gateway would; nothing else happens in this process. */
async function record({ otel, requests, perSecond }: RecorderOrder): Promise<RecorderAnswer> {
  const telemetry = otel === undefined ? undefined : await start(otel);
  if (telemetry !== undefined) await pace(Math.min(requests, perSecond), perSecond, telemetry);
  const before = process.cpuUsage();
  await pace(requests, perSecond, telemetry);
  await telemetry?.flushSpans();
  await telemetry?.flushMetrics();
  const { user, system } = process.cpuUsage(before);
  const { exported = 0, failed = 0, dropped = 0 } = telemetry?.spanCounts ?? {};
  await telemetry?.[Symbol.asyncDispose]();
  return { cpuMicros: user + system, rssMib: process.memoryUsage.rss() / 1_048_576, exported, lost: failed + dropped };
}

async function start(otel: Readonly<Record<string, unknown>>): Promise<Telemetry | undefined> {
  const { readOtelConfig } = await import('@vitrine/telemetry/otel/read-otel-config');
  const { startTelemetry } = await import('@vitrine/telemetry/otel/start-telemetry');
  return startTelemetry({ config: readOtelConfig(otel, {}), version: '0.0.0', onTrouble: (message) => console.error(message) });
}

function pace(requests: number, perSecond: number, telemetry: Telemetry | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const startedAt = performance.now();
  let done = 0;
  const tick = () => {
    const due = Math.min(requests, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    for (; done < due; done += 1) request(telemetry, done);
    if (done === requests) resolve();
    else setTimeout(tick, 1);
  };
  tick();
  return promise;
}

/** What the gateway tells of one authenticated request to a provider. */
function request(telemetry: Telemetry | undefined, number: number): void {
  if (telemetry === undefined) return;
  const model = MODELS[number % MODELS.length];
  const span = telemetry.spans?.begin('POST', '/openai/*', NO_HEADERS);
  const at = performance.now();
  span?.authenticated(at, { ...CALLER, correlationId: 'corr-0123456789abcdef0123456789abcdef' });
  span?.startUpstream({ provider: 'openai', operation: 'chat' });
  span?.end({ ...CALLER, status: 200, provider: 'openai', upstreamStatus: 200, model });
  span?.enqueued(at, true, CALLER);
  telemetry.metrics?.requestEnded(
    { provider: 'openai', model, ...CALLER, route: '/openai/*', status: 200, durationMs: 40, providerMs: 38 },
    span?.sampledIds,
  );
  if (number % 64 === 0) telemetry.metrics?.flushed(64, 2);
}
