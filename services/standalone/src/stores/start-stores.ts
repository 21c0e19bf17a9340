import { publicUrlsOf } from '@vitrine/stores/profile/render-profile';
import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { readScanConfig } from '@vitrine/enrich-scan-queue/config';
import { migrate } from '@vitrine/postgres/migrate';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { waitForDatabase } from '@vitrine/postgres/wait-for-database';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { lockFile } from '@vitrine/sqlite/file-lock';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import { startStoreApi } from '@vitrine/store-api/app';
import { readStoreApiConfig, type StoreApiConfig } from '@vitrine/store-api/config';
import { urlOf } from '@vitrine/http-api/server/listen';
import { commitDemoStore } from '@vitrine/stores/demo/demo-store';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { createApiKey, KEY_PRESETS } from '@vitrine/stores/workspaces/api-keys';
import { createWorkspace, listWorkspaces } from '@vitrine/stores/workspaces/workspaces';
import type { Logger } from '@vitrine/telemetry/logger';
import { freePort } from '@vitrine/testkit/free-port';
import type { Storefronts } from '@vitrine/testkit/storefronts/start-storefronts';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { demoScanSettings, startDemoStorefronts } from '../demo/start-demo.ts';
import { PostgresProcess } from './postgres-process.ts';
import { openStoresFiles, writeConfigFile } from './stores-files.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../../migrations/sql', import.meta.url));
/** Concurrent scans; low, because everything else runs in this process too. */
const SCANS = 4;
const QUIET = { info: () => {}, warn: () => {} };

/** The facts about the store API that the welcome page shows. */
export interface StoresReady {
  readonly url: string;
  /** Shown only by the start that created it. */
  readonly apiKey: Secret | undefined;
  /** The kind of demo stores that can be looked up. */
  readonly demo: 'recorded' | 'storefronts';
  /** For commands. */
  readonly configFile: string;
  /** Rejects when the database has ended. Faults: `stores_unusable`. */
  readonly untilEnd: Promise<never>;
}

interface Stores extends AsyncDisposable {
  /** Resolves when the database has its tables and the demo store. Faults: `stores_unusable`. */
  readonly ready: Promise<StoresReady>;
}

interface StoresOptions {
  /** The folder of all its files. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly createLogger: (service: string, level: string) => Logger;
  /** Prints the lines of the demonstration; undefined without one. */
  readonly printDemo: ((text: string) => void) | undefined;
}

/** Starts the store API on a Postgres of its own. It listens when this resolves. Its database and then the scanner start in the background.
 *  Faults: `storage_locked`, `storage_unusable`, `address_unusable`, `invalid_config`. */
export async function startStores({ folder, env, createLogger, printDemo }: StoresOptions): Promise<Stores> {
  await using opened = new AsyncDisposableStack();
  const absolute = resolve(folder);
  makeFolder(absolute);
  opened.use(lockFile(join(absolute, 'stores')));
  const files = openStoresFiles(absolute);
  const port = await freePort();
  const admin = `postgresql://postgres:${files.password}@127.0.0.1:${port}/postgres`;
  const dsnAs = (role: string) => `${admin}?options=${encodeURIComponent(`-c role=${role}`)}`;
  const [dsn, scanDsn] = [dsnAs('vitrine_store_api'), dsnAs('vitrine_enrich')];
  const config = withOwnUrl(
    readStoreApiConfig(undefined, env, {
      log: { level: 'error' },
      storage: { dsn },
      auth: { peppers: files.peppers },
      graphql: { service_token: files.serviceToken, introspection: true },
    }),
    env,
  );
  const stopping = new AbortController();
  const starting = PostgresProcess.start({ folder: absolute, port, password: files.password });
  // Rejections are reported by `ready`.
  opened.defer(async () => (await starting.catch(() => undefined))?.[Symbol.asyncDispose]());
  const api = opened.use(await startStoreApi(config, createLogger('svc-store-api', config.log.level)));
  const storefronts = printDemo === undefined ? undefined : opened.use(await startDemoStorefronts());
  let scanning: Promise<AsyncDisposable> | undefined;
  opened.defer(async () => (await scanning?.catch(() => undefined))?.[Symbol.asyncDispose]());
  opened.defer(() => stopping.abort());
  const configFile = writeConfigFile(files, dsn, api.url);
  const urls = { ...config, public: { ...config.public, api_url: env['STORE_API_PUBLIC_API_URL'] ?? api.url } };
  const scanConfig = readScanConfig(undefined, env, scanDefaults(scanDsn, urls, storefronts));
  const ready = starting.then(async (server) => {
    const untilEnd = server.untilEnd();
    // A rejection that nothing awaits must not end the process.
    untilEnd.catch(() => {});
    const made = await Promise.race([untilEnd, prepare(admin, urls, stopping.signal, storefronts === undefined)]);
    if (!stopping.signal.aborted) {
      const { startScanning } = await import('./start-scanning.ts');
      const demo = storefronts && printDemo && { storefronts, print: printDemo };
      scanning = startScanning({ config: scanConfig, demo, dsn: new Secret(scanDsn), createLogger });
      await scanning;
    }
    return { url: api.url, configFile, untilEnd, demo: storefronts === undefined ? 'recorded' : 'storefronts', ...made } as const;
  });
  ready.catch(() => {});
  const running = opened.move();
  return { ready, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** URLs in responses have the listening address, unless configured otherwise. With port 0 the address is not known yet. */
function withOwnUrl(config: StoreApiConfig, env: StoresOptions['env']): StoreApiConfig {
  const { host, port } = config.server;
  const isKnown = port !== 0 && (env['STORE_API_PUBLIC_API_URL'] ?? '') === '';
  return isKnown ? { ...config, public: { ...config.public, api_url: urlOf(host, port) } } : config;
}

/** Probes and metrics of the scanner use any free port of this machine unless SCAN_SERVER_PORT is set. */
function scanDefaults(dsn: string, config: Pick<StoreApiConfig, 'public'>, storefronts: Storefronts | undefined) {
  const { fetch = {}, ...settings } = storefronts === undefined ? {} : demoScanSettings(storefronts);
  return {
    log: { level: 'error' },
    server: { host: '127.0.0.1', port: 0 },
    storage: { dsn },
    queue: { driver: 'database' },
    concurrency: SCANS,
    public: config.public,
    ...settings,
    fetch: { ...fetch, contact_url: publicUrlsOf(config.public).docs_url },
  };
}

/** Migrates the tables and creates the data for the welcome page. */
async function prepare(admin: string, config: StoreApiConfig, signal: AbortSignal, isRecorded: boolean) {
  const dsn = new Secret(admin);
  await using pool = new PostgresPool({ dsn, applicationName: 'vitrine-standalone', maxConnections: 2 });
  await waitForDatabase(pool, { logger: QUIET, signal });
  await migrate({ dsn, folder: MIGRATIONS });
  await importVocabulary(pool, VOCABULARY);
  const [at, random] = [Date.now(), randomBytes];
  if (isRecorded) await pool.transaction((transaction) => commitDemoStore(transaction, publicUrlsOf(config.public), at, random));
  if ((await listWorkspaces(pool)).length > 0) return { apiKey: undefined };
  const hashes = new TokenHashes(config.auth.peppers);
  const apiKey = await pool.transaction(async (transaction) => {
    const tenant = { gateway_org_id: 'default', gateway_workspace_id: 'default' };
    const admin_email = 'admin@example.com';
    const workspace = await createWorkspace(transaction, { name: 'Demo', plan: 'pro', admin_email, ...tenant, at, random });
    const key = { label: 'demo', scopes: KEY_PRESETS.full, created_by: 'npm start', expires_at: null, at, random };
    const created = await createApiKey(transaction, hashes, { workspace_id: workspace.id, ...key });
    return created.kind === 'created' ? created.secret : undefined;
  });
  return { apiKey };
}
