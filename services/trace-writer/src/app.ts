import { Readiness } from '@vitrine/http-api/probe-routes';
import { serveHealth } from '@vitrine/http-api/serve-health';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import type { Logger } from '@vitrine/telemetry/logger';
import type { WriterConfig } from './config.ts';
import { serviceHealth } from './health/service-health.ts';
import { WriterTelemetry } from './observability/writer-telemetry.ts';
import { Pipeline } from './pipeline.ts';

const CLIENT_ID = 'vitrine-trace-writer';

interface TraceWriter extends AsyncDisposable {
  /** The server of health and metrics. */
  readonly url: string;
}

/** Starts a trace-writer and waits for database and broker if they are unavailable. Disposal finishes and commits the batch in progress, then
 *  writes statistics and exports spans and metrics, each within 5 s. Faults: `address_unusable`, `kafka_credentials_unreadable`. */
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
  const health = serviceHealth(
    () => pipeline.state,
    () => pipeline.figures.consumer,
  );
  const api = opened.use(
    await serveHealth(health, {
      title: 'Vitrine trace-writer',
      summary: 'Health of the service that writes traces from Kafka to Postgres.',
      prefix: 'WRITER_',
      server: config.server,
      probes: { readiness },
      scrape: telemetry.scrape,
      scrapePath: config.observability.otel.prometheus_path,
      logger,
    }),
  );
  stop('write the statistics', () => pipeline.writeStatistics());
  stop('stop consuming', () => pipeline.stopConsuming());
  opened.defer(() => readiness.shutDown());
  pipeline.start();
  const running = opened.move();
  return { url: api.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
