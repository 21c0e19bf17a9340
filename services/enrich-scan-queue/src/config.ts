import { readVersion } from '@vitrine/config/read-version';
import { type ConfigFault, readConfig, type ConfigSource } from '@vitrine/config/read-config';
import type { DeepPartial } from '@vitrine/config/partial-value';
import { listenKeys } from '@vitrine/http-api/server/listen';
import { kafkaKeyFaults, kafkaKeys } from '@vitrine/kafka/kafka-config';
import { postgresDsn } from '@vitrine/postgres/postgres-config';
import { publicUrlKeys } from '@vitrine/stores/profile/render-profile';
import { logKeys } from '@vitrine/telemetry/logger';
import { otelConfig, otelVariables } from '@vitrine/telemetry/config/otel-config';
import { z } from 'zod';

/** The version of the running scanner. */
export const VERSION: string = readVersion(new URL('../package.json', import.meta.url));

const PREFIX = 'SCAN_';
/** What names the configuration file when `--config` does not. */
export const SCAN_CONFIG_FILE = { variable: 'SCAN_CONFIG', defaultFile: 'enrich-scan-queue.yaml' };

const otel = otelConfig({ serviceName: 'svc-enrich-scan-queue', reservedPaths: ['/api'] });
/** The topics are those of scan messages. */
const { brokers, tls, sasl } = kafkaKeys('');
const LOOPBACK_HOST = /^[a-z0-9.-]{1,253}=127\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d{1,5}:\d{1,5}$/;
const url = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/(?<!\/)\/+$/, ''));

/** The configuration of the scanner; field names are the YAML keys, and equal those of the other services where both have them. */
export const scanConfig = z
  .strictObject({
    log: z.strictObject(logKeys).prefault({}),
    /** Probes and metrics; nothing else is served. */
    server: z.strictObject(listenKeys(9090)).prefault({}),
    storage: z.strictObject({ dsn: postgresDsn }),
    queue: z
      .strictObject({
        /** `database`: without a broker; jobs are taken from their table. */
        driver: z.enum(['kafka', 'database']).default('kafka'),
        brokers,
        tls,
        sasl,
        group: z.string().min(1).max(240).default('vitrine-enrich-scan-queue'),
      })
      .prefault({}),
    /** Concurrent scans in this process. */
    concurrency: z.int().min(1).max(256).default(16),
    jobs: z
      .strictObject({
        /** Failed attempts of a scan after which its job has failed. */
        max_attempts: z.int().min(1).max(20).default(3),
        /** Delay before the second attempt; doubled for each further one. */
        retry_ms: z.int().min(1).max(3_600_000).default(30_000),
      })
      .prefault({}),
    /** `off` is for measurements against your own storefronts. */
    politeness: z.enum(['on', 'off']).default('on'),
    /** The environment. Settings for tests and the demo are refused in production. */
    environment: z.enum(['production', 'development']).default('production'),
    fetch: z
      .strictObject({
        /** Sent in the User-Agent: a page that explains to site owners who scans them and how to stop it. */
        contact_url: url.prefault('http://127.0.0.1:8081/docs'),
        /** Pages of a catalogue that are read in a scan; most platforms have 100 to 250 products on a page. */
        catalogue_pages: z.int().min(1).max(100).default(1),
        /** Names that this machine serves instead of the internet, `NAME=127.0.0.1:HTTP_PORT:HTTPS_PORT` each: for fixture storefronts. */
        loopback_hosts: z
          .array(z.string().regex(LOOPBACK_HOST, 'must be NAME=127.0.0.1:HTTP_PORT:HTTPS_PORT'))
          .max(1_000)
          .default([]),
        /** The PEM certificate of their certificate authority. */
        loopback_ca: z.string().max(65_536).default(''),
      })
      .prefault({}),
    rescan: z
      .strictObject({
        enabled: z.boolean().default(true),
        cadence_ms: z.int().min(1_000).max(31_536_000_000).default(604_800_000),
      })
      .prefault({}),
    evidence: z
      .strictObject({
        retention_days: z.int().min(1).max(3_650).default(180),
        /** Stores of this process whose evidence is read again when rules have changed; 0: they follow with their next scan. */
        replay_per_second: z.int().min(0).max(1_000).default(10),
      })
      .prefault({}),
    /** Public URLs of this deployment, as they appear in profiles. */
    public: z.strictObject(publicUrlKeys).prefault({}),
    observability: z.strictObject({ otel: otel.prefault({}) }).prefault({}),
  })
  .describe('The configuration of the scanner.');
export type ScanConfig = z.infer<typeof scanConfig>;

/** The scrape is on, because this port serves only probes and metrics. */
const SCRAPE_ON = { observability: { otel: { prometheus_enabled: true } } };

/** Reads the configuration from one YAML file's text and the environment. Faults: `invalid_config`. */
export function readScanConfig(
  yaml: ConfigSource['yaml'],
  env: ConfigSource['env'],
  defaults: Readonly<Record<string, unknown>> = {},
): ScanConfig {
  const { [SCAN_CONFIG_FILE.variable]: _file, ...variables } = env;
  const source = { defaults: { ...SCRAPE_ON, ...defaults }, yaml, env: variables, prefix: PREFIX, named: otelVariables(PREFIX) };
  return readConfig(scanConfig, source, [({ queue = {} }) => queueFaults(queue), fetchFaults]);
}

function queueFaults(queue: DeepPartial<ScanConfig['queue']>): ConfigFault[] {
  return queue.driver === 'database' ? [] : kafkaKeyFaults('queue', queue);
}

/** Names served by this machine bypass the checks that keep a scanner off private addresses. */
function fetchFaults({ environment, fetch }: DeepPartial<ScanConfig>): ConfigFault[] {
  if (environment === 'development') return [];
  const message = 'is for fixture storefronts; remove it, or set environment to development';
  const faults: ConfigFault[] = [];
  if ((fetch?.loopback_hosts?.length ?? 0) > 0)
    faults.push({ path: 'fetch.loopback_hosts', variable: 'SCAN_FETCH_LOOPBACK_HOSTS', message });
  if ((fetch?.loopback_ca ?? '') !== '') faults.push({ path: 'fetch.loopback_ca', variable: 'SCAN_FETCH_LOOPBACK_CA', message });
  return faults;
}
