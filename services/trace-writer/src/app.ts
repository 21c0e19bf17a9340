import { createApiApp } from '@vitrine/http-api/api-app';
import { probeRoutes, Readiness } from '@vitrine/http-api/probe-routes';
import { publicScrape } from '@vitrine/http-api/respond-with-scrape';
import { serveApi } from '@vitrine/http-api/server/api-server';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import type { Logger } from '@vitrine/telemetry/logger';
import type { WriterConfig } from './config.ts';
import { healthRoutes } from './health/health-routes.ts';
import { WriterTelemetry } from './observability/writer-telemetry.ts';
import { Pipeline } from './pipeline.ts';
import { VERSION } from './version.ts';

const CLIENT_ID = 'vitrine-trace-writer';
const CORRELATION_HEADER = 'X-Svc-Correlation-ID';
const MAX_CONNECTIONS = 256;

interface TraceWriter extends AsyncDisposable {
  /** The server of health and metrics. */
  readonly url: string;
}

/**
 * Starts a trace-writer and waits for database and broker if they are unavailable. Disposal finishes and commits the batch in progress,
 * then writes statistics and exports spans and metrics, each within 5 s. Faults: `address_unusable`, `kafka_credentials_unreadable`.
 */
export async function startTraceWriter(config: WriterConfig, logger: Logger): Promise<TraceWriter> {
  await using opened = new AsyncDisposableStack();
  const stop = shutdownSteps(opened, logger);

  const telemetry = opened.use(await WriterTelemetry.start(config.observability.otel, logger));
  stop('flush metrics', () => telemetry.flushMetrics());
  stop('flush spans', () => telemetry.flushSpans());
  const client = createKafkaClient(kafkaConnection(CLIENT_ID, config.queue), logger);
  const pipeline = new Pipeline({ config, client, logger, onBatch: (batch) => telemetry.batchWritten(batch) });
  stop('close the database', () => pipeline.closeDatabase());
  telemetry.observe(() => pipeline.figures);
  const readiness = new Readiness({ database_not_reached: () => !pipeline.hasReachedDatabase });
  const api = opened.use(await serveHealth(config, pipeline, readiness, telemetry, logger));
  stop('write the statistics', () => pipeline.writeStatistics());
  stop('stop consuming', () => pipeline.stopConsuming());
  opened.defer(() => readiness.shutDown());
  pipeline.start();
  const running = opened.move();
  return { url: api.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function serveHealth(
  { server, observability }: WriterConfig,
  pipeline: Pipeline,
  readiness: Readiness<string>,
  { scrape }: WriterTelemetry,
  logger: Logger,
) {
  const startedAt = performance.now();
  const uptimeSec = () => Math.floor((performance.now() - startedAt) / 1_000);
  const app = createApiApp(
    healthRoutes(
      () => pipeline.state,
      () => pipeline.figures.consumer,
      uptimeSec,
    ),
    {
      logger,
      description: {
        title: 'Vitrine trace-writer',
        version: VERSION,
        summary: 'Health of the service that writes traces from Kafka to Postgres.',
        correlationHeader: CORRELATION_HEADER,
      },
      authorize: () => undefined,
      rawRoutes: [...probeRoutes({ readiness }), ...publicScrape(scrape, observability.otel.prometheus_path)],
    },
  );
  const keys = { hostKey: 'server.host (WRITER_SERVER_HOST)', portKey: 'server.port (WRITER_SERVER_PORT)' };
  const limits = { maxConnections: MAX_CONNECTIONS, correlationHeader: CORRELATION_HEADER };
  return serveApi(app, { ...server, ...keys, ...limits, logger });
}
