import { Readiness } from '@vitrine/http-api/probe-routes';
import { serveHealth } from '@vitrine/http-api/serve-health';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import { DatabaseClock } from '@vitrine/postgres/database-clock';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { publicUrlsOf } from '@vitrine/stores/profile/render-profile';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ScanConfig } from './config.ts';
import { serviceHealth, stalledBy } from './health/service-health.ts';
import { ScanTelemetry } from './observability/scan-telemetry.ts';
import type { EndedRun } from './jobs/job-runner.ts';
import { HostRateLimiter } from './politeness/host-rate-limiter.ts';
import { createRunScan, type ScanSteps, createScanSteps, RULES } from './run-scan.ts';
import { APPLICATION, ScanQueue } from './scan-queue.ts';

/** Commits of scans, jobs, turns, the probe: statements are short, and scans mostly wait for storefronts. */
const MAX_POOL = 10;

export interface Scanner extends AsyncDisposable {
  /** The server of probes and metrics. */
  readonly url: string;
}

/** Starts a scanner and waits for database and broker if they are unavailable. Disposal takes no more jobs, requeues scans that do not end in
 *  time, then exports spans and metrics, each step within 5 s. Faults: `address_unusable`, `kafka_credentials_unreadable`. */
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
  const health = serviceHealth(
    () => queue.state,
    () => ({ scans_in_flight: queue.figures.inFlight, lag_records: queue.lagRecords }),
  );
  const api = opened.use(
    await serveHealth(health, {
      title: 'Vitrine scanner',
      summary: 'Health of the service that scans storefronts.',
      prefix: 'SCAN_',
      server: config.server,
      probes: { readiness, stalledBy: () => stalledBy(queue.state) },
      scrape: telemetry.scrape,
      scrapePath: config.observability.otel.prometheus_path,
      logger,
    }),
  );
  stop('stop scanning', () => queue.stop());
  opened.defer(() => readiness.shutDown());
  queue.start();
  const running = opened.move();
  return { url: api.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
