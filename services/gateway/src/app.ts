import { Fault, codeOf, isFault, messageOf } from '@vitrine/faults/fault';
import { stopStep } from '@vitrine/lifecycle/stop-step';
import type { Logger } from '@vitrine/telemetry/logger';
import { parsePriceOverride, type PriceOverride } from '@vitrine/traces/price-catalogue';
import type { PrivacyRules } from '@vitrine/traces/privacy/privacy-rules';
import { keepRetention, openEmbeddedTraceStore, type EmbeddedTraceStore } from '@vitrine/traces/sqlite/embedded-trace-store';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { Pool } from 'undici';
import { analyticsRoutes } from './admin-analytics/analytics-routes.ts';
import { keyRoutes } from './admin-keys/keys-route.ts';
import { lineageRoutes } from './admin-traces/lineage-routes.ts';
import { traceRoutes } from './admin-traces/traces-route.ts';
import { authorizeBy } from './auth/authorize.ts';
import { openAuth } from './auth/open-auth.ts';
import { openKeys } from './auth/open-keys.ts';
import { PerSecond } from './auth/per-second.ts';
import { BodyBudget } from './capture/body-budget.ts';
import { createDropReport } from './capture/drop-report.ts';
import { TraceQueue } from './capture/trace-queue.ts';
import type { GatewayConfig } from './config.ts';
import { pipelineDiagnostics } from './diagnostics/pipeline-diagnostics.ts';
import { pipelineRoutes } from './diagnostics/pipeline-route.ts';
import { serviceRoutes } from './diagnostics/service-routes.ts';
import { createAdminApp } from './http/admin-app.ts';
import { closeServer, createGatewayServer } from './http/gateway-server.ts';
import { openLimits, type Clocks } from './limits/open-limits.ts';
import { Deadlines } from './proxy/deadlines.ts';
import type { ProxyTools, UpstreamRoute } from './proxy/exchange.ts';
import { headerReaders } from './proxy/forwarded-headers.ts';
import { privacyRules } from './privacy/pii-config.ts';
import { openRequestGuard } from './privacy/request-guard.ts';
import { createProxy } from './proxy/proxy.ts';
import { VERSION } from './version.ts';

const DEADLINE_TICK_MS = 250;
const SYSTEM_CLOCKS: Clocks = { clock: Date.now, steadyClock: () => performance.now() };
/** Traces of rejections that belong to no tenant, a second. Spec: gateway decisions, section 5. */
const STRANGERS_A_SECOND = 10;

export interface Gateway extends AsyncDisposable {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
}

/** Starts a gateway. Disposal is the specification's shutdown: requests in flight are finished, then the queue is written out,
 *  each within 5 s. Faults: `storage_locked`, `storage_unusable`, `pepper_unusable`, `address_unusable`,
 *  `invalid_price_override`. `clocks` are those of the usage limits. */
export async function startGateway(config: GatewayConfig, logger: Logger, clocks: Clocks = SYSTEM_CLOCKS): Promise<Gateway> {
  await using opened = new AsyncDisposableStack();
  const stop = (name: string, step: () => Promise<unknown>) =>
    opened.defer(async () => void (await stopStep(name, step, (details) => logger.error(details, 'a shutdown step failed'))));

  const startedAt = performance.now();
  const privacy = privacyRules(config.pii, config.tracing.capture_bodies);
  const store = await openTraceStore(config, privacy);
  stop('close the trace store', () => store[Symbol.asyncDispose]());
  const onRetentionError = (error: unknown) => logger.error({ err: error }, 'old traces were not removed');
  opened.use(keepRetention(store, config.tracing.retention_days, onRetentionError));

  const limits = opened.use(await openLimits(config, { totals: (day) => store.quotaTotals(day), logger, ...clocks }));
  const budget = new BodyBudget(config.queue.max_body_bytes);
  const onDrop = createDropReport(logger, Date.now);
  const queue = new TraceQueue({ ...config.queue, sink: store, budget, clock: Date.now, onDrop, ledger: limits.ledger });
  stop('write the trace queue', () => queue.drained());

  const keys = openKeys(config, logger);
  stop('close the key store', async () => keys[Symbol.asyncDispose]());
  const auth = await openAuth(config, keys, logger, () => performance.now());
  stop('write when keys were used', async () => auth[Symbol.asyncDispose]());
  const strangers = new PerSecond(STRANGERS_A_SECOND, Date.now);

  const deadlines = opened.use(new Deadlines(() => performance.now(), DEADLINE_TICK_MS));
  const routes = openRoutes(config, opened);
  const tools: ProxyTools = {
    times: { firstByteTimeoutMs: config.proxy.first_byte_timeout_ms, idleTimeoutMs: config.proxy.idle_timeout_ms },
    deadlines,
    budget,
    headers: headerReaders(config.auth.header),
    guard: openRequestGuard(privacy, config.tracing.body_max_size),
    storedBodyMaxBytes: config.tracing.capture_bodies ? config.tracing.body_max_size : 0,
    onEnd: (exchange) => void queue.enqueue(exchange),
  };

  const diagnose = () =>
    pipelineDiagnostics(
      {
        capacity: queue.capacity,
        depth: queue.depth,
        counters: queue.counters,
        bodies: budget,
        storeDriver: store.driver,
        rejectionsUnkept: strangers.refused,
        auditLost: keys.trail.lost,
      },
      Date.now(),
    );
  const uptimeSec = () => Math.floor((performance.now() - startedAt) / 1_000);
  const admin = createAdminApp(
    [
      ...serviceRoutes(store, { version: VERSION, uptimeSec }),
      ...traceRoutes(store),
      ...lineageRoutes(store, () => randomBytes(8).toString('hex')),
      ...analyticsRoutes(store),
      ...keyRoutes(keys.keys),
      ...pipelineRoutes(diagnose),
    ],
    { logger, authorize: authorizeBy(auth.authenticate, keys.trail), keyHeader: config.auth.header, version: VERSION },
  );
  const door = { authenticate: auth.authenticate, gate: limits.gate, trail: keys.trail, strangers };
  const proxy = createProxy(routes, tools, queue, door);
  const server = createGatewayServer(proxy, admin, config.server.max_connections);
  const url = await listen(server, config.server);
  stop('cut what is still in flight', () => cutExchanges(deadlines, server));
  stop('finish requests in flight', () => closeServer(server));
  const running = opened.move();
  return { url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function openTraceStore({ storage, tracing, prices }: GatewayConfig, privacy: PrivacyRules): Promise<EmbeddedTraceStore> {
  return openEmbeddedTraceStore({
    path: storage.path,
    policy: { captureBodies: tracing.capture_bodies, bodyMaxSize: tracing.body_max_size, privacy },
    priceOverride: readPriceOverride(prices.override_path),
  });
}

function readPriceOverride(path: string | undefined): PriceOverride | undefined {
  if (path === undefined) return undefined;
  try {
    return parsePriceOverride(readFileSync(path, 'utf8'));
  } catch (cause) {
    const reason = isFault(cause) ? cause.say : messageOf(cause);
    throw new Fault('invalid_price_override', {
      say: `prices.override_path (SVC_PRICES_OVERRIDE_PATH): ${path}: ${reason}`,
      cause,
    });
  }
}

function openRoutes(config: GatewayConfig, opened: AsyncDisposableStack): UpstreamRoute[] {
  return (['openai', 'anthropic'] as const).map((provider) => {
    const { upstream, prefix } = config.providers[provider];
    const { origin, pathname } = new URL(upstream);
    // Deadlines are ours (see Deadlines). Connections are as many as requests in flight, which the proxy bounds.
    const pool = new Pool(origin, {
      connections: null,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: config.proxy.connect_timeout_ms },
    });
    opened.defer(() => pool.destroy());
    return { provider, prefix, upstreamPath: pathname.replace(/\/$/, ''), pool };
  });
}

function listen(server: Server, { host, port }: GatewayConfig['server']): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  server.once('error', (cause) => {
    const isBusy = codeOf(cause) === 'EADDRINUSE';
    const key = isBusy || codeOf(cause) === 'EACCES' ? 'server.port (SVC_SERVER_PORT)' : 'server.host (SVC_SERVER_HOST)';
    const reason = isBusy ? 'is already in use' : `cannot be listened on: ${cause.message}`;
    reject(new Fault('address_unusable', { say: `${key}: ${host}:${port} ${reason}`, cause }));
  });
  server.listen(port, host, () => {
    const address = server.address();
    const actual = typeof address === 'object' && address !== null ? address.port : port;
    resolve(`http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${actual}`);
  });
  return promise;
}

/** What has not ended by now is cut, so that it leaves a trace before the queue is written out. */
function cutExchanges(deadlines: Deadlines, server: Server): Promise<void> {
  for (const exchange of deadlines.watched()) exchange.onDeadline();
  server.closeAllConnections();
  return deadlines.empty();
}
