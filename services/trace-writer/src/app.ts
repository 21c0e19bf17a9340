import { createApiApp } from '@vitrine/http-api/api-app';
import { respondWithScrape } from '@vitrine/http-api/respond-with-scrape';
import { serveApi } from '@vitrine/http-api/server/api-server';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import type { Logger } from '@vitrine/telemetry/logger';
import type { WriterConfig } from './config.ts';
import { HEALTH_FAULTS, healthRoutes } from './health/health-routes.ts';
import { WriterTelemetry } from './observability/writer-telemetry.ts';
import { Pipeline } from './pipeline.ts';
import { VERSION } from './version.ts';

const CLIENT_ID = 'vitrine-trace-writer';
const CORRELATION_HEADER = 'X-Svc-Correlation-ID';
const MAX_CONNECTIONS = 256;

export interface TraceWriter extends AsyncDisposable {
  /** Of health and metrics. */
  readonly url: string;
}

/** Starts a trace-writer, whether or not database and broker are there: it waits for both. Disposal finishes and commits the batch in
 *  progress, then writes statistics, spans and metrics, each within 5 s. Faults: `address_unusable`, `kafka_credentials_unreadable`. */
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
  const api = opened.use(await serveHealth(config, pipeline, telemetry, logger));
  stop('write the statistics', () => pipeline.writeStatistics());
  stop('stop consuming', () => pipeline.stopConsuming());
  pipeline.start();
  const running = opened.move();
  return { url: api.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function serveHealth({ server, observability }: WriterConfig, pipeline: Pipeline, { scrape }: WriterTelemetry, logger: Logger) {
  const startedAt = performance.now();
  const uptimeSec = () => Math.floor((performance.now() - startedAt) / 1_000);
  const { prometheus_path: path } = observability.otel;
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
      faults: HEALTH_FAULTS,
      authorize: () => undefined,
      rawRoutes: scrape && [{ permission: 'public', path, respond: respondWithScrape(scrape) }],
    },
  );
  const keys = { hostKey: 'server.host (WRITER_SERVER_HOST)', portKey: 'server.port (WRITER_SERVER_PORT)' };
  const limits = { maxConnections: MAX_CONNECTIONS, correlationHeader: CORRELATION_HEADER };
  return serveApi(app, { ...server, ...keys, ...limits, logger });
}
