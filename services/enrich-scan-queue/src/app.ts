import { createApiApp } from '@vitrine/http-api/api-app';
import { respondWithScrape } from '@vitrine/http-api/respond-with-scrape';
import { serveApi } from '@vitrine/http-api/server/api-server';
import { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ScanConfig } from './config.ts';
import { HEALTH_FAULTS, healthRoutes } from './health/health-routes.ts';
import { ScanTelemetry } from './observability/scan-telemetry.ts';
import { ScanQueue } from './scan-queue.ts';
import { VERSION } from './version.ts';

const CORRELATION_HEADER = 'X-Svc-Correlation-ID';
const MAX_CONNECTIONS = 256;

export interface Scanner extends AsyncDisposable {
  /** Of probes and metrics. */
  readonly url: string;
}

/** Starts a scanner, whether or not database and broker are there: it waits for both. Disposal takes no more jobs, hands scans that do not end
 *  in time back, then writes spans and metrics, each step within 5 s. Faults: `address_unusable`, `kafka_credentials_unreadable`. */
export async function startScanner(config: ScanConfig, logger: Logger): Promise<Scanner> {
  await using opened = new AsyncDisposableStack();
  const stop = shutdownSteps(opened, logger);

  const telemetry = opened.use(await ScanTelemetry.start(config.observability.otel, logger));
  stop('flush metrics', () => telemetry.flushMetrics());
  stop('flush spans', () => telemetry.flushSpans());
  const queue = new ScanQueue({ config, logger });
  stop('close the database', () => queue.closeDatabase());
  telemetry.observe(() => queue.figures);
  const api = opened.use(await serveHealth(config, queue, telemetry, logger));
  stop('stop scanning', () => queue.stop());
  queue.start();
  const running = opened.move();
  return { url: api.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function serveHealth({ server, observability }: ScanConfig, queue: ScanQueue, { scrape }: ScanTelemetry, logger: Logger) {
  const startedAt = performance.now();
  const uptimeSec = () => Math.floor((performance.now() - startedAt) / 1_000);
  const routes = healthRoutes(
    () => queue.state,
    () => queue.figures,
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
    faults: HEALTH_FAULTS,
    authorize: () => undefined,
    rawRoutes: scrape && [{ permission: 'public', path: observability.otel.prometheus_path, respond: respondWithScrape(scrape) }],
  });
  const keys = { hostKey: 'server.host (SCAN_SERVER_HOST)', portKey: 'server.port (SCAN_SERVER_PORT)' };
  const limits = { maxConnections: MAX_CONNECTIONS, correlationHeader: CORRELATION_HEADER };
  return serveApi(app, { ...server, ...keys, ...limits, logger });
}
