import type { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import { serveScrape, type ScrapeServerOptions } from '@vitrine/http-api/serve-scrape';
import type { Logger } from '@vitrine/telemetry/logger';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { keepRetention } from '@vitrine/traces/retention';
import { NO_SCOPE } from '@vitrine/traces/exchange-scope';
import { openPriceCatalogue } from '@vitrine/trace-derivation/price-catalogue';
import type { ClientConnections, RefusedMessage } from '@vitrine/http-api/connections/client-connections';
import { Readiness } from '@vitrine/http-api/probe-routes';
import { stopServer, type HttpServer, type StoppingServer } from '@vitrine/http-api/server/http-server';
import { listen } from '@vitrine/http-api/server/listen';
import { unparsedLog } from '@vitrine/http-api/connections/unparsed-log';
import { createAdminApi } from './admin/admin-api.ts';
import { authorizeBy } from './admin/http/admin-app.ts';
import { openAuth } from './auth/open-auth.ts';
import { openKeys, type OpenKeys } from './auth/keys/open-keys.ts';
import { RateLimiter } from './auth/rate-limiter.ts';
import { BodyBudget } from './recording/capture/body-budget.ts';
import type { Drop } from './recording/capture/drop.ts';
import { DropReport } from './recording/capture/drop-report.ts';
import type { OpenedTraces } from './recording/opened-traces.ts';
import { TraceQueue } from './recording/capture/trace-queue.ts';
import { WriteMonitor } from './recording/capture/write-monitor.ts';
import { readPrices } from './recording/price-settings.ts';
import { openClocks, type Clocks } from './storage/clocks.ts';
import type { GatewayConfig } from './config.ts';
import { healthReasons } from './admin/diagnostics/service-routes.ts';
import { createGatewayServer } from './admin/http/gateway-server.ts';
import { CostCheck } from './limits/cost-check.ts';
import { openLimits } from './limits/open-limits.ts';
import type { SharedLimits } from './limits/open-counters.ts';
import { CORRELATION_HEADER } from './telemetry/correlation-id.ts';
import { openAccessLog, type AccessLog } from './telemetry/access-log.ts';
import { openObservability, type Observability } from './telemetry/open-observability.ts';
import { pathRedactor } from '@vitrine/privacy/path-redactor';
import { openPlans } from './limits/plans/follow-plans.ts';
import { openRequestGuard } from './proxy/privacy/request-guard.ts';
import { Deadlines } from './proxy/exchange/deadlines.ts';
import { headerReaders, TRACE_CONTEXT_HEADERS } from './proxy/exchange/forwarded-headers.ts';
import { openRoutes } from './proxy/routing/open-routes.ts';
import { routeUnder } from './proxy/routing/request-target.ts';
import type { ProxyContext } from './proxy/exchange/proxy-context.ts';
import { createProxy, createUnparsedHandler } from './proxy/proxy.ts';
import { UpstreamErrorLog } from './proxy/exchange/upstream-error-log.ts';
import { postgresOptions } from './storage/storage-settings.ts';

/** Traces of rejections that belong to no tenant, a second. Spec: G11.12. */
const ANONYMOUS_REJECTIONS_PER_SECOND = 10;
/** Bytes of request bodies that are read before they are forwarded, over all exchanges; beyond it requests are rejected with 503. */
const HELD_BODIES_MAX_BYTES = 64 * 1_048_576;
/** Reports of rates run one at a time, and so do those of quotas. The third connection is for clean-up. */
const LIMIT_CONNECTIONS = 3;

const AFTER_FAILED_RETENTION =
  'check err, and the disk of storage.path or the database of storage.dsn; retention runs every 60 s: docs/failure-modes.md#retention-that-fails';

/** Process facilities that a caller can replace. */
export interface GatewayOverrides {
  /** Replaces the clock of the process, or of the database when traces are stored in Postgres. */
  readonly clocks?: Clocks | undefined;
  /** Replaces the database of `storage.dsn` when `limits.counters` is `shared`. */
  readonly sharedLimits?: SharedLimits | undefined;
  /** Ends the wait for a database that is unavailable when the gateway starts. */
  readonly signal?: AbortSignal | undefined;
}

/** What `startGateway` opens before the rest of the gateway's modules are loaded. */
interface StartupResources {
  readonly privacy: PrivacyRules;
  readonly traces: OpenedTraces;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly opened: AsyncDisposableStack;
  readonly stop: ReturnType<typeof shutdownSteps>;
}

/** Dependencies of the parts of the gateway. */
interface GatewayParts extends StartupResources {
  readonly config: GatewayConfig;
  readonly logger: Logger;
  readonly clocks: Clocks;
  readonly sharedLimits: SharedLimits | undefined;
  readonly observability: Observability;
}

/** Puts the gateway together around its open trace store, listens, and resolves with its URL; see `startGateway`. */
export async function startServer(
  startup: StartupResources,
  config: GatewayConfig,
  logger: Logger,
  process: GatewayOverrides,
): Promise<string> {
  const { privacy, traces, startedAt, opened, stop } = startup;
  const observability = opened.use(await openObservability(config.observability.otel, logger));
  stop('flush metrics', () => observability.flushMetrics());
  stop('flush spans', () => observability.flushSpans());
  const sharedLimits = process.sharedLimits ?? (await openSharedLimits(config, opened));
  const clocks = process.clocks ?? (await openClocks(config.storage, sharedLimits?.pool, logger, opened));
  const { clock, steadyClock } = clocks;
  const parts = { ...startup, config, logger, clocks, sharedLimits, observability };
  const { limits, limitFigures, budget, writes, queue } = await openPipeline(parts);

  const redactPathFor = pathRedactor(privacy);
  const keys = await openKeys(config, logger, { thread: traces.thread, redactPathFor, clock });
  stop('close the key store', async () => keys[Symbol.asyncDispose]());
  if (traces.store.driver === 'postgres') observability.metrics?.observePools(() => poolFigures(traces, keys, limitFigures()));
  const auth = await openAuth(config, keys, logger, clocks);
  stop('write the last use of keys', async () => auth[Symbol.asyncDispose]());
  const anonymousRejections = new RateLimiter(ANONYMOUS_REJECTIONS_PER_SECOND, steadyClock);

  const deadlines = opened.use(new Deadlines(steadyClock));
  const routes = openRoutes(config, opened);
  observability.metrics?.observeUpstreams(routes);
  const shutdown = new AbortController();
  const context = proxyContext({ ...parts, deadlines, budget, queue, shutdown });
  const { authenticate, hasMisplacedKey } = auth;
  const admission = { authenticate, hasMisplacedKey, gate: limits.gate, trail: keys.trail, anonymousRejections };
  const proxy = createProxy(routes, context, queue, admission);

  const { scrape } = observability;
  const reasons = () => healthReasons({ writes, queue, auth, traces });
  const readiness = new Readiness({ pepper_mismatch: () => auth.pepperProblem() !== undefined });
  const admin = createAdminApi({
    startedAt,
    traces,
    queue,
    budget,
    keys,
    anonymousRejections,
    reasons,
    readiness,
    logger,
    scrape,
    authorize: authorizeBy(auth.authenticate, keys.trail),
    keyHeader: config.auth.header,
  });
  opened.use(await serveScrape(scrape, scrapeServer(config, logger)));
  const access = config.log.access ? openAccessLog(logger, redactPathFor) : undefined;
  const instrumentRequest = observability.instrumentRequests(
    { providers: routes.map(({ provider }) => provider), providerOf: (target) => routeUnder(target, routes)?.provider },
    access,
  );
  const created = createGatewayServer(proxy, admin, config.server.max_connections, instrumentRequest);
  const { server, connections } = created;
  observability.metrics?.observeConnections(connections, config.server.max_connections);
  const unparsed = opened.use(unparsedLog(logger, (path) => redactPathFor(path, NO_SCOPE)));
  reportRefused(connections, unparsed, access, createUnparsedHandler(routes, context, admission));
  const at = { ...config.server, hostKey: 'server.host (SVC_SERVER_HOST)', portKey: 'server.port (SVC_SERVER_PORT)' };
  const url = await listen(server, at);
  stop('cut requests in flight', () => cutExchanges(deadlines, connections, shutdown));
  finishRequests(created, config.server.idle_grace_ms, stop);
  opened.defer(() => readiness.shutDown());
  return url;
}

/** Two steps, so that requests that arrive while idle connections are kept open get the full time as well. */
function finishRequests(server: HttpServer, idleGraceMs: number, stop: ReturnType<typeof shutdownSteps>): void {
  let stopping: StoppingServer | undefined;
  stop('finish requests in flight', async () => stopping?.closed);
  stop('close idle connections', () => (stopping = stopServer(server, idleGraceMs)).idleClosed);
}

/** The limits and the queue of traces. They stop in reverse order: the queue is written, the store is closed, and the remaining traces are counted
 *  and logged. */
async function openPipeline(parts: GatewayParts) {
  const { config, logger, clocks, sharedLimits, observability, traces, opened, stop } = parts;
  const { store, thread, publisher } = traces;
  const drops = opened.use(new DropReport(logger, store.driver));
  // Traces that a closed store did not accept fail at once. They are counted and logged as dropped.
  let countUnwritten: (() => Promise<void>) | undefined;
  stop('close the trace store', async () => {
    await traces[Symbol.asyncDispose]();
    await countUnwritten?.();
  });
  opened.use(keepRetention(store, { retentionDays: config.tracing.retention_days, logger, onError: reportRetention(logger) }));

  const totals = (day: string) => store.quotaTotals(day);
  const plans = await openPlans(config, logger);
  stop('stop following plans', async () => plans?.[Symbol.asyncDispose]());
  const limits = await openLimits(config, { totals, logger, shared: sharedLimits, plans: plans?.live, ...clocks });
  stop('return unused shared limits', async () => limits[Symbol.asyncDispose]());
  const budget = new BodyBudget(config.queue.max_body_bytes);
  const sink = observability.instrumentSink(thread, publisher === undefined ? store.driver : undefined);
  const writes = opened.use(
    new WriteMonitor({ sink, probe: () => (publisher ?? store).probe(), steadyClock: clocks.steadyClock, logger }),
  );
  const onDrop = (drop: Drop) => drops.dropped(drop);
  const queue = new TraceQueue({ ...config.queue, ...clocks, sink: writes, budget, onDrop, ledger: limits.ledger });
  countUnwritten = () => queue.drained();
  stop('write the trace queue', () => queue.drained());
  observability.metrics?.observeQueue(queue, publisher);
  if (plans !== undefined) observability.metrics?.observePlans(() => plans.live.applied.generation);
  const limitFigures = () => ({ ...plans?.poolFigures(), ...(sharedLimits && { limits: sharedLimits.pool.figures() }) });
  return { limits, limitFigures, budget, writes, queue };
}

/** By use. The pool of the thread that writes to Postgres has no metrics. */
function poolFigures(traces: OpenedTraces, keys: OpenKeys, limits: Readonly<Record<string, PoolFigures>>) {
  return { ...traces.poolFigures(), ...keys.poolFigures(), ...limits };
}

/** A separate pool, so that a report of limits never waits behind a list query. */
async function openSharedLimits(
  { limits, storage }: GatewayConfig,
  opened: AsyncDisposableStack,
): Promise<SharedLimits | undefined> {
  const options = limits.counters === 'shared' ? postgresOptions(storage, 'limits') : undefined;
  if (options === undefined) return undefined;
  const { PostgresPool } = await import('@vitrine/postgres/postgres-pool');
  return { pool: opened.use(new PostgresPool({ ...options, maxConnections: LIMIT_CONNECTIONS })) };
}

interface ProxyParts extends GatewayParts {
  readonly deadlines: Deadlines;
  readonly budget: BodyBudget;
  readonly queue: TraceQueue;
  readonly shutdown: AbortController;
}

function proxyContext(parts: ProxyParts): ProxyContext {
  const { config, privacy, logger, clocks, observability, opened, deadlines, budget, queue, shutdown } = parts;
  const upstreamErrors = opened.use(new UpstreamErrorLog(logger, () => performance.now()));
  return {
    times: { firstByteTimeoutMs: config.proxy.first_byte_timeout_ms, idleTimeoutMs: config.proxy.idle_timeout_ms },
    clock: clocks.clock,
    deadlines,
    budget,
    headers: headerReaders(config.auth.header, observability.hasSpans ? TRACE_CONTEXT_HEADERS : []),
    guard: openRequestGuard(privacy, config.tracing.body_max_size),
    costCheck: openCostCheck(config, clocks.clock),
    heldBodies: new BodyBudget(HELD_BODIES_MAX_BYTES),
    storedBodyMaxBytes: config.tracing.capture_bodies ? config.tracing.body_max_size : 0,
    shutdown: shutdown.signal,
    onFailure: (failed) => upstreamErrors.report(failed),
    onEnd: (exchange, telemetry) => {
      if (telemetry === undefined) queue.enqueue(exchange);
      else telemetry.enqueue(exchange, (ended) => queue.enqueue(ended));
    },
  };
}

/** Limits apply only with authentication. */
function openCostCheck({ auth, limits, prices }: GatewayConfig, clock: () => number): CostCheck | undefined {
  return auth.enabled && limits.unknown === 'refuse' ? new CostCheck(openPriceCatalogue(readPrices(prices)), clock) : undefined;
}

function scrapeServer({ server, observability }: GatewayConfig, logger: Logger): ScrapeServerOptions {
  const { prometheus_port: port } = observability.otel;
  return { host: server.host, port, prefix: 'SVC_', correlationHeader: CORRELATION_HEADER, logger };
}

/** Logs requests that could not be parsed, and traces them where possible. */
function reportRefused(
  connections: ClientConnections,
  log: ReturnType<typeof unparsedLog>,
  access: AccessLog | undefined,
  leaveTrace: (refused: RefusedMessage) => void,
): void {
  connections.onRefused = (refused) => {
    const { line, rejection, correlationId } = refused;
    log.add(refused);
    leaveTrace(refused);
    access?.refused(rejection.status, correlationId, line && { method: line.method, url: line.target });
  };
}

function reportRetention(logger: Logger): (error: unknown) => void {
  return (error) => logger.error({ err: error, next_step: AFTER_FAILED_RETENTION }, 'retention failed');
}

/** Ends the exchanges in flight, so that each has a trace before the queue is written. */
function cutExchanges(deadlines: Deadlines, connections: ClientConnections, shutdown: AbortController): Promise<void> {
  shutdown.abort();
  for (const exchange of deadlines.tracked()) exchange.onDeadline();
  connections[Symbol.dispose]();
  return deadlines.empty();
}
