// A gateway that shares its limits, in a process of its own: started by `fork` with its settings, it sends its URL and runs until it is
// stopped.
import { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { createLogger } from '@vitrine/telemetry/logger';
import { join } from 'node:path';
import process from 'node:process';
import { startGateway } from '../start-gateway.ts';
import { readGatewayConfig } from '../config.ts';

export interface SharedGatewaySettings {
  readonly dsn: string;
  readonly folder: string;
  readonly upstream: string;
  /** YAML of `auth` and `limits`. */
  readonly text: string;
  readonly storage: 'sqlite' | 'postgres';
  readonly windowMs: number;
}

const { dsn, folder, upstream, text, storage, windowMs } = JSON.parse(process.argv[2] ?? '') as SharedGatewaySettings;
const env = {
  SVC_SERVER_HOST: '127.0.0.1',
  SVC_SERVER_PORT: '0',
  SVC_STORAGE_DRIVER: storage,
  ...(storage === 'postgres' ? { SVC_STORAGE_DSN: dsn } : { SVC_STORAGE_PATH: join(folder, 'traces.db') }),
  SVC_PROVIDERS_OPENAI_UPSTREAM: upstream,
  SVC_PROVIDERS_ANTHROPIC_UPSTREAM: upstream,
};
const config = readGatewayConfig({ path: 'vitrine.yaml', text }, env);
const pool = new PostgresPool({ dsn: new Secret(dsn), applicationName: 'shared-gateway' });
const { url } = await startGateway(
  { ...config, limits: { ...config.limits, counters: 'shared' } },
  createLogger('svc-gateway', 'error', { write: (line) => void process.stderr.write(line) }),
  { sharedLimits: { pool, windowMs } },
);
process.send?.({ url });
