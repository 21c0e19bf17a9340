import { readVersion } from '@vitrine/config/read-version';
import { readConfig, type ConfigSource } from '@vitrine/config/read-config';
import { Secret } from '@vitrine/config/secret';
import { pepperShape } from '@vitrine/credentials/pepper';
import { clientServerKeys } from '@vitrine/http-api/server/http-server';
import { kafkaKeyFaults, kafkaKeys } from '@vitrine/kafka/kafka-config';
import { postgresDsn } from '@vitrine/postgres/postgres-config';
import { publicUrlKeys } from '@vitrine/stores/profile/render-profile';
import { accessLogKeys } from '@vitrine/telemetry/logger';
import { otelConfig, otelVariables } from '@vitrine/telemetry/config/otel-config';
import { z } from 'zod';

/** The version of the running store API. */
export const VERSION: string = readVersion(new URL('../package.json', import.meta.url));

const PREFIX = 'STORE_API_';
const MAX_PEPPERS = 8;
const MIN_TOKEN_LENGTH = 32;
/** What names the configuration file when `--config` does not. */
export const STORE_API_CONFIG_FILE = { variable: 'STORE_API_CONFIG', defaultFile: 'store-api.yaml' };

/** The topics are those of `SCAN_TOPICS`. */
const { topic: _topic, ...brokerKeys } = kafkaKeys('');

const otel = otelConfig({
  serviceName: 'svc-store-api',
  reservedPaths: ['/v1', '/graphql', '/stores', '/technologies', '/settings', '/login', '/docs'],
});

/** The configuration of the store API; field names are the YAML keys. */
export const storeApiConfig = z
  .strictObject({
    log: z.strictObject(accessLogKeys).prefault({}),
    server: z.strictObject(clientServerKeys(8081, 4096)).prefault({}),
    storage: z.strictObject({
      dsn: postgresDsn,
      /** Connections for requests. Each uses one for a statement or a transaction. */
      connections: z.int().min(2).max(1_000).default(20),
    }),
    /** The target of queued scans. Without brokers they stay in the outbox. */
    queue: z.strictObject(brokerKeys).prefault({}),
    /** The first pepper hashes new keys. All are tried for verification. */
    auth: z
      .strictObject({ peppers: z.array(pepperShape).min(1, 'must name a pepper').max(MAX_PEPPERS).prefault([]) })
      .prefault({}),
    /** Public URLs of this deployment, also used in stored profiles. */
    public: z.strictObject(publicUrlKeys).prefault({}),
    graphql: z
      .strictObject({
        /** Without it `/graphql` rejects every request. */
        service_token: z
          .string()
          .min(MIN_TOKEN_LENGTH, `must have at least ${MIN_TOKEN_LENGTH} characters`)
          .transform((text) => new Secret(text))
          .optional(),
        introspection: z.boolean().default(false),
      })
      .prefault({}),
    /** Identifies the running build in `GET /v1/health`. */
    build: z.string().min(1).max(128).optional(),
    observability: z.strictObject({ otel: otel.prefault({}) }).prefault({}),
  })
  .describe('The configuration of the store API.');
export type StoreApiConfig = z.infer<typeof storeApiConfig>;

/** Reads the configuration from one YAML file's text and the environment. Faults: `invalid_config`. */
export function readStoreApiConfig(
  yaml: ConfigSource['yaml'],
  env: ConfigSource['env'],
  defaults: Readonly<Record<string, unknown>> = {},
): StoreApiConfig {
  const { [STORE_API_CONFIG_FILE.variable]: _file, ...variables } = env;
  const source = { defaults, yaml, env: variables, prefix: PREFIX, named: otelVariables(PREFIX) };
  return readConfig(storeApiConfig, source, [
    ({ queue = {} }) => kafkaKeyFaults('queue', queue).filter(({ path }) => path !== 'queue.brokers'),
  ]);
}
