import { invalidConfig, inspectConfig, type ConfigSource, type InspectedConfig } from '@vitrine/config/read-config';
import { z } from 'zod';
import { authConfig } from './auth/auth-config.ts';
import { isKeyFile } from './auth/keys/key-files.ts';
import { configRules } from './config/config-rules.ts';
import { clientServerKeys } from '@vitrine/http-api/server/http-server';
import { kafkaKeys } from '@vitrine/kafka/kafka-config';
import { postgresDsn } from '@vitrine/postgres/postgres-config';
import { accessLogKeys } from '@vitrine/telemetry/logger';
import { otelVariables } from '@vitrine/telemetry/config/otel-config';
import { STORE_DRIVERS } from '@vitrine/traces/trace-store';
import { limitsConfig, plansConfig } from './limits/limits-config.ts';
import { oldKeyHint } from './config/old-settings.ts';
import { observabilityConfig } from './telemetry/observability-config.ts';
import { piiConfig } from './proxy/privacy/pii-config.ts';
import { pricesConfig } from './recording/price-settings.ts';

const MEBIBYTE = 1_048_576;

/** What names the gateway's configuration file when `--config` does not. */
export const GATEWAY_CONFIG_FILE = { variable: 'SVC_CONFIG', defaultFile: 'vitrine.yaml' };

/** An origin with an optional path prefix: where a provider is reached. */
const upstream = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .refine((url) => !/[?#@]/.test(url.replace(/^\w+:\/\//, '')), 'must not carry credentials, a query or a fragment');

/** SQLite does not treat these as the path of a file, and each of our threads opens its own connection. */
const storagePath = z
  .string()
  .min(1)
  .refine((path) => path !== ':memory:' && !path.startsWith('file:'), 'must be the path of a file')
  .refine((path) => !isKeyFile(path), 'must not be the file that gateway keys or their pepper are kept in');

/** Paths of the gateway's own API, which no provider may have. */
const RESERVED_PATHS = ['/api', '/livez', '/readyz'];

const prefix = z
  .string()
  .regex(/^(\/[A-Za-z0-9_-]+)+$/, 'must start with / and not end with it')
  .refine(
    (path) => !RESERVED_PATHS.some((reserved) => path === reserved || path.startsWith(`${reserved}/`)),
    `must not overlap ${RESERVED_PATHS.join(', ')}`,
  );

const provider = (upstreamUrl: string, routePrefix: string) =>
  z.strictObject({ upstream: upstream.default(upstreamUrl), prefix: prefix.default(routePrefix) }).prefault({});

/** The gateway's configuration; field names are the YAML keys. Rules between its parts are in `config-rules.ts`.
 *  Spec: G1.7, G16.1 to G16.6. */
export const gatewayConfig = z
  .strictObject({
    log: z.strictObject(accessLogKeys).prefault({}),
    server: z.strictObject(clientServerKeys(8080, 8192)).prefault({}),
    storage: z
      .strictObject({
        driver: z.enum(STORE_DRIVERS).default('sqlite'),
        /** Of SQLite's file; gateway keys are beside it. */
        path: storagePath.default('./data/traces.db'),
        /** Of Postgres. */
        dsn: postgresDsn.optional(),
      })
      .prefault({}),
    queue: z
      .strictObject({
        /** The target of the queue: the store itself, or a broker from which trace-writers fill the store. */
        driver: z.enum(['memory', 'kafka']).default('memory'),
        ...kafkaKeys('vitrine.traces'),
        /** A larger trace loses its bodies. At most what the topic's `max.message.bytes` allows. */
        max_record_bytes: z
          .int()
          .min(10_000)
          .max(16 * MEBIBYTE)
          .default(1_000_000),
        /** The folder where traces wait on disk while the broker is unavailable. */
        spool: z
          .strictObject({
            path: z.string().min(1).default('./data/spool'),
            max_bytes: z
              .int()
              .min(MEBIBYTE)
              .default(1024 * MEBIBYTE),
          })
          .prefault({}),
        capacity: z.int().min(1).max(1_000_000).default(4096),
        batch: z.int().min(1).max(4096).default(512),
        /** Maximum body bytes in memory of captured or queued traces. Bodies beyond it are not kept. */
        max_body_bytes: z
          .int()
          .min(0)
          .default(64 * MEBIBYTE),
      })
      .prefault({}),
    providers: z
      .strictObject({
        openai: provider('https://api.openai.com', '/openai'),
        anthropic: provider('https://api.anthropic.com', '/anthropic'),
      })
      .prefault({}),
    proxy: z
      .strictObject({
        connect_timeout_ms: z.int().min(1).default(10_000),
        /** Maximum time from sending the request to the first byte of the response. */
        first_byte_timeout_ms: z.int().min(1).default(600_000),
        /** Maximum time between two chunks of a response. Its total time is unlimited. */
        idle_timeout_ms: z.int().min(1).default(300_000),
      })
      .prefault({}),
    tracing: z
      .strictObject({
        capture_bodies: z.boolean().default(false),
        body_max_size: z
          .int()
          .min(1)
          .max(64 * MEBIBYTE)
          .default(MEBIBYTE),
        retention_days: z.int().min(1).max(3650).default(30),
      })
      .prefault({}),
    observability: observabilityConfig,
    pii: piiConfig,
    auth: authConfig,
    limits: limitsConfig,
    plans: plansConfig,
    prices: pricesConfig,
  })
  .describe('The configuration of the gateway.');
export type GatewayConfig = z.infer<typeof gatewayConfig>;

/** Reads the configuration from one YAML file's text and the environment. Faults: `invalid_config`. */
export function readGatewayConfig(
  yaml: ConfigSource['yaml'],
  env: ConfigSource['env'],
  defaults: Readonly<Record<string, unknown>> = {},
): GatewayConfig {
  const { config, faults } = inspectGatewayConfig(yaml, env, defaults);
  if (config === undefined) throw invalidConfig(faults);
  return config;
}

/** The same, but returns all faults instead of throwing one. */
export function inspectGatewayConfig(
  yaml: ConfigSource['yaml'],
  env: ConfigSource['env'],
  defaults: Readonly<Record<string, unknown>> = {},
): InspectedConfig<typeof gatewayConfig> {
  const { [GATEWAY_CONFIG_FILE.variable]: _file, ...variables } = env;
  return inspectConfig(
    gatewayConfig,
    { defaults, yaml, env: variables, prefix: 'SVC_', named: otelVariables('SVC_'), hintOf: oldKeyHint },
    configRules,
  );
}
