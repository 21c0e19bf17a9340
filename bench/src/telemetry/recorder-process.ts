import { setImmediate as immediately, setTimeout as wait } from 'node:timers/promises';

import type { GatewayTelemetry } from '@vitrine/gateway/telemetry/start-gateway-telemetry';

/** How the recorder is to run. */
export interface RecorderOrder {
  /** `observability.otel`; undefined for telemetry off. */
  readonly otel: Readonly<Record<string, unknown>> | undefined;
  readonly requests: number;
}

/** The cost, including exports and the last flush. */
export interface RecorderResult {
  readonly cpuMicros: number;
  readonly rssMib: number;
  readonly exported: number;
  readonly lost: number;
}

const MODELS = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'text-embedding-3-small'];
const CALLER = { org_id: 'org-a', workspace_id: 'ws-a', key_id: 'gk_0123456789abcdef', role: 'developer' };
const NO_HEADERS = {};
/** Requests recorded in one turn of the event loop. */
const IN_ONE_TURN = 64;
/** Spans in flight to the collector, beyond which the next turn waits so that none are dropped. */
const SPANS_ON_THEIR_WAY = 8_192;
const SPANS_OF_ONE = 5;

process.on('message', (order: RecorderOrder) => void record(order).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
process.send?.({ port: 0 });

/** Records requests like the gateway, without other work in this process. */
async function record({ otel, requests }: RecorderOrder): Promise<RecorderResult> {
  const telemetry = otel === undefined ? undefined : await start(otel);
  await run(Math.ceil(requests / 2), telemetry);
  const before = process.cpuUsage();
  await run(requests, telemetry);
  await telemetry?.flushSpans();
  await telemetry?.flushMetrics();
  const { user, system } = process.cpuUsage(before);
  const { exported = 0, failed = 0, dropped = 0 } = telemetry?.spanCounts ?? {};
  telemetry?.[Symbol.dispose]();
  return { cpuMicros: user + system, rssMib: process.memoryUsage.rss() / 1_048_576, exported, lost: failed + dropped };
}

/** Resolves when every sampled span was exported. */
async function run(requests: number, telemetry: GatewayTelemetry | undefined): Promise<void> {
  const counts = telemetry?.spanCounts ?? { exported: 0, failed: 0, dropped: 0 };
  const ended = () => counts.exported + counts.failed + counts.dropped;
  const endedBefore = ended();
  let sampled = 0;
  const onTheirWay = () => sampled * SPANS_OF_ONE - (ended() - endedBefore);
  for (let number = 0; number < requests; number += 1) {
    if (request(telemetry, number)) sampled += 1;
    if (number % IN_ONE_TURN !== 0) continue;
    await immediately();
    while (onTheirWay() > SPANS_ON_THEIR_WAY) await wait(1);
  }
  while (onTheirWay() > 0) await wait(1);
}

async function start(otel: Readonly<Record<string, unknown>>): Promise<GatewayTelemetry | undefined> {
  const { readGatewayConfig } = await import('@vitrine/gateway/config');
  const { startGatewayTelemetry } = await import('@vitrine/gateway/telemetry/start-gateway-telemetry');
  return startGatewayTelemetry({
    config: readGatewayConfig(undefined, {}, { observability: { otel } }).observability.otel,
    version: '0.0.0',
    onExportError: (message) => console.error(message),
  });
}

/** Records the telemetry of one authenticated request to a provider. Returns whether it was sampled. */
function request(telemetry: GatewayTelemetry | undefined, number: number): boolean {
  if (telemetry === undefined) return false;
  const model = MODELS[number % MODELS.length];
  const at = performance.now();
  const span = telemetry.spans?.begin(at, 'POST', '/openai/*', NO_HEADERS);
  span?.authenticated(at, performance.now(), { ...CALLER, correlationId: 'corr-0123456789abcdef0123456789abcdef' });
  span?.startUpstream(performance.now(), { provider: 'openai', operation: 'chat' });
  const endedAt = performance.now();
  span?.finish(endedAt, { ...CALLER, status: 200, provider: 'openai', upstreamStatus: 200, model });
  span?.enqueued(endedAt, performance.now(), true, CALLER);
  telemetry.metrics?.requestEnded(
    { provider: 'openai', model, ...CALLER, route: '/openai/*', status: 200, durationMs: 40, providerMs: 38 },
    span?.sampledIds,
  );
  if (number % IN_ONE_TURN === 0) telemetry.metrics?.flushed(IN_ONE_TURN, 2);
  return span?.sampledIds !== undefined;
}
