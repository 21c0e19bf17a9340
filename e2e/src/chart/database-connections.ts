import type { TestDatabase } from '@vitrine/testkit/template-database';
import { npmScript } from '@vitrine/testkit/npm-script';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { freePort, startProcess } from '../running-process.ts';
import type { Component } from './shared-names.ts';

/** Nothing listens there: services that wait for a broker still serve. */
const NO_BROKER = '127.0.0.1:1';
const PEPPER = `1:${'p'.repeat(32)}`;
const START_TIMEOUT_MS = 60_000;
const CLIENT_FACING: readonly Component[] = ['gateway', 'store-api'];
const PREFIXES: Readonly<Record<Component, string>> = {
  gateway: 'SVC',
  'trace-writer': 'WRITER',
  'store-api': 'STORE_API',
  'enrich-scan-queue': 'SCAN',
  operator: 'OPERATOR',
};

/** How many connections to Postgres a process of the component may open, as its metrics have it when it is configured as in the chart. */
export async function connectionsOf(component: Component, database: TestDatabase, folder: string): Promise<number> {
  const [port, scrapePort] = [await freePort(), await freePort()];
  const home = join(folder, component);
  await mkdir(home);
  await writeFile(join(home, 'pepper'), PEPPER);
  const prefix = PREFIXES[component];
  const env = {
    // Where an operator finds no cluster.
    HOME: home,
    [`${prefix}_SERVER_PORT`]: String(port),
    [`${prefix}_STORAGE_DSN`]: database.dsn.reveal(),
    [`${prefix}_OBSERVABILITY_OTEL_PROMETHEUS_ENABLED`]: 'true',
    // Clients of gateway and store API have no access to their metrics.
    ...(CLIENT_FACING.includes(component) && { [`${prefix}_OBSERVABILITY_OTEL_PROMETHEUS_PORT`]: String(scrapePort) }),
    ...settingsOf(home)[component],
  };
  await using running = startProcess({ command: npmScript(component), env, cwd: home });
  const scrape = async () => {
    if (!running.isRunning) throw new Error(`${component} ended: ${running.stdout}${running.stderr}`);
    const at = CLIENT_FACING.includes(component) ? scrapePort : port;
    const response = await fetch(`http://127.0.0.1:${at}/metrics`).catch(() => undefined);
    const limits = response?.ok === true ? limitsIn(await response.text()) : [];
    return limits.length > 0 && limits;
  };
  const limits = await waitUntil(scrape, { what: `the metrics of ${component}`, timeoutMs: START_TIMEOUT_MS });
  return limits.reduce((sum, limit) => sum + limit, 0);
}

/** `home` has a pepper. */
const settingsOf = (home: string): Readonly<Record<Component, Readonly<Record<string, string>>>> => ({
  gateway: {
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_QUEUE_DRIVER: 'kafka',
    SVC_QUEUE_BROKERS: NO_BROKER,
    SVC_AUTH_ENABLED: 'true',
    SVC_AUTH_PEPPERS: PEPPER,
    SVC_LIMITS_COUNTERS: 'shared',
  },
  'trace-writer': { WRITER_QUEUE_BROKERS: NO_BROKER },
  'store-api': { STORE_API_QUEUE_BROKERS: NO_BROKER, STORE_API_AUTH_PEPPERS: PEPPER },
  'enrich-scan-queue': { SCAN_QUEUE_BROKERS: NO_BROKER, SCAN_FETCH_CONTACT_URL: 'https://example.com' },
  operator: { OPERATOR_NAMESPACE: 'default', OPERATOR_AUTH_PEPPER_PATH: join(home, 'pepper') },
});

const limitsIn = (scrape: string): number[] =>
  [...scrape.matchAll(/^svc_postgres_connection_limit\{.*\} (\d+)$/gm)].map(([, limit]) => Number(limit));
