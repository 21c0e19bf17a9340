import { createApiApp } from '@vitrine/http-api/api-app';
import { probeRoutes, Readiness } from '@vitrine/http-api/probe-routes';
import { publicScrape } from '@vitrine/http-api/respond-with-scrape';
import { serveApi } from '@vitrine/http-api/server/api-server';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import { DatabaseClock } from '@vitrine/postgres/database-clock';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { publicUrlsOf } from '@vitrine/stores/profile/public-urls';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ScanConfig } from './config.ts';
import { healthRoutes } from './health/health-routes.ts';
import { stalledBy } from './health/scanner-state.ts';
import { ScanTelemetry } from './observability/scan-telemetry.ts';
import type { EndedRun } from './jobs/job-runner.ts';
import { HostRateLimiter } from './politeness/host-rate-limiter.ts';
import { createRunScan, type ScanSteps } from './run-scan.ts';
import { APPLICATION, ScanQueue } from './scan-queue.ts';
import { createScanSteps, RULES } from './scan-steps.ts';
import { VERSION } from './version.ts';

const CORRELATION_HEADER = 'X-Svc-Correlation-ID';
const MAX_CONNECTIONS = 256;
/**
 * Connections for commits, jobs, rate limits and the probe. Few suffice, because statements are short and scans mostly wait for
 * storefronts.
 */
const MAX_POOL = 10;

export interface Scanner extends AsyncDisposable {
  /** The server of probes and metrics. */
  readonly url: string;
}

/**
 * Starts a scanner and waits for database and broker if they are unavailable. Disposal takes no more jobs, requeues scans that do not
 * end in time, then exports spans and metrics, each step within 5 s. Faults: `address_unusable`, `kafka_credentials_unreadable`.
 */
export async function startScanner(config: ScanConfig, logger: Logger, steps?: ScanSteps): Promise<Scanner> {
  await using opened = new AsyncDisposableStack();
  const stop = shutdownSteps(opened, logger);

  const telemetry = opened.use(await ScanTelemetry.start(config.observability.otel, logger));
  stop('flush metrics', () => telemetry.flushMetrics());
  stop('flush spans', () => telemetry.flushSpans());
  const client =
    config.queue.driver === 'kafka'
      ? createKafkaClient(kafkaConnection(APPLICATION, { ...config.queue, topic: '' }), logger)
      : undefined;
  const pool = new PostgresPool({
    dsn: config.storage.dsn,
    applicationName: APPLICATION,
    maxConnections: Math.min(MAX_POOL, config.concurrency + 3),
  });
  stop('close the database', () => pool[Symbol.asyncDispose]());
  const clock = opened.use(new DatabaseClock(pool, { logger }).keepReading());
  const turns = new HostRateLimiter(pool);
  const runScan = createRunScan({
    pool,
    turns: config.politeness === 'on' ? turns : undefined,
    ...(steps ?? createScanSteps(config, clock.now)),
    cadenceMs: config.rescan.cadence_ms,
    onCommit: (scope, committed) => telemetry.observationCommitted(scope, committed),
    logger,
  });
  const onEnd = (ended: EndedRun) => telemetry.runEnded(ended);
  const replay = { rules: RULES, urls: publicUrlsOf(config.public) };
  const queue = new ScanQueue({ config, client, pool, logger, run: runScan, onEnd, replay });
  telemetry.observe(() => queue.figures, turns.counters);
  const readiness = new Readiness({ database_not_reached: () => !queue.hasReachedDatabase });
  const api = opened.use(await serveHealth(config, queue, readiness, telemetry, logger));
  stop('stop scanning', () => queue.stop());
  opened.defer(() => readiness.shutDown());
  queue.start();
  const running = opened.move();
  return { url: api.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function serveHealth(
  { server, observability }: ScanConfig,
  queue: ScanQueue,
  readiness: Readiness<string>,
  { scrape }: ScanTelemetry,
  logger: Logger,
) {
  const startedAt = performance.now();
  const uptimeSec = () => Math.floor((performance.now() - startedAt) / 1_000);
  const routes = healthRoutes(
    () => queue.state,
    () => ({ inFlight: queue.figures.inFlight, lagRecords: queue.lagRecords }),
    uptimeSec,
  );
  const app = createApiApp(routes, {
    logger,
    description: {
      title: 'Vitrine scanner',
      version: VERSION,
      summary: 'Health of the service that scans storefronts.',
      correlationHeader: CORRELATION_HEADER,
    },
    authorize: () => undefined,
    rawRoutes: [
      ...probeRoutes({ readiness, stalledBy: () => stalledBy(queue.state) }),
      ...publicScrape(scrape, observability.otel.prometheus_path),
    ],
  });
  const keys = { hostKey: 'server.host (SCAN_SERVER_HOST)', portKey: 'server.port (SCAN_SERVER_PORT)' };
  const limits = { maxConnections: MAX_CONNECTIONS, correlationHeader: CORRELATION_HEADER };
  return serveApi(app, { ...server, ...keys, ...limits, logger });
}
