import { readVersion } from '@vitrine/config/read-version';
import { readConfig, type ConfigSource } from '@vitrine/config/read-config';
import { listenKeys } from '@vitrine/http-api/server/listen';
import { kafkaKeyFaults, kafkaKeys } from '@vitrine/kafka/kafka-config';
import { postgresDsn } from '@vitrine/postgres/postgres-config';
import { logKeys } from '@vitrine/telemetry/logger';
import { otelConfig, otelVariables } from '@vitrine/telemetry/config/otel-config';
import { z } from 'zod';

/** The version of the running trace-writer. */
export const VERSION: string = readVersion(new URL('../package.json', import.meta.url));

const PREFIX = 'WRITER_';
/** What names the configuration file when `--config` does not. */
export const WRITER_CONFIG_FILE = { variable: 'WRITER_CONFIG', defaultFile: 'trace-writer.yaml' };

const otel = otelConfig({ serviceName: 'svc-trace-writer', reservedPaths: ['/api'] });

/** The configuration of the trace-writer; field names are the YAML keys, and equal those of the gateway where both have them. */
export const writerConfig = z
  .strictObject({
    log: z.strictObject(logKeys).prefault({}),
    /** Health, readiness and metrics; nothing else is served. */
    server: z.strictObject(listenKeys(9090)).prefault({}),
    storage: z.strictObject({ dsn: postgresDsn }),
    queue: z
      .strictObject({
        ...kafkaKeys('vitrine.traces'),
        group: z.string().min(1).max(240).default('vitrine-trace-writer'),
      })
      .prefault({}),
    tracing: z.strictObject({ retention_days: z.int().min(1).max(3650).default(30) }).prefault({}),
    observability: z.strictObject({ otel: otel.prefault({}) }).prefault({}),
  })
  .describe('The configuration of the trace-writer.');
export type WriterConfig = z.infer<typeof writerConfig>;

/** The scrape is on, because this port serves only health and metrics. */
const DEFAULTS = { observability: { otel: { prometheus_enabled: true } } };

/** Reads the configuration from one YAML file's text and the environment. Faults: `invalid_config`. */
export function readWriterConfig(yaml: ConfigSource['yaml'], env: ConfigSource['env']): WriterConfig {
  const { [WRITER_CONFIG_FILE.variable]: _file, ...variables } = env;
  const source = { defaults: DEFAULTS, yaml, env: variables, prefix: PREFIX, named: otelVariables(PREFIX) };
  return readConfig(writerConfig, source, [({ queue = {} }) => kafkaKeyFaults('queue', queue)]);
}
