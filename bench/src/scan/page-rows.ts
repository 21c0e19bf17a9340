import { Secret } from '@vitrine/config/secret';
import { migrate } from '@vitrine/postgres/migrate';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { createId } from '@vitrine/stores/identifiers';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { queueScans } from '@vitrine/stores/scans/queue-scans';
import { startEmbeddedServer } from '@vitrine/testkit/embedded-postgres-server';
import { npmScript } from '@vitrine/testkit/npm-script';
import { MIGRATIONS_FOLDER } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRow, Progress } from '../bench.ts';
import { forked, stop, type Forked } from '../forked.ts';
import { median } from '../median.ts';
import { freePort } from '../proxy/gateway-process.ts';
import { cpuMicrosOf } from '../proxy/process-cost.ts';
import type { ScanPlan } from './scan-plan.ts';

const CONCURRENCY = 16;
/** Target of pages a second per core. */
const PROMISED_PAGES_PER_S = 50;
const PATIENCE_MS = 600_000;

interface Round {
  readonly seconds: number;
  readonly cpuMs: number;
  readonly pages: number;
}

interface Servers {
  readonly storefronts: Forked;
  readonly bare: Forked;
  readonly pool: PostgresPool;
  readonly scannerPid: number;
  readonly hosts: readonly string[];
}

/** Documents that are not pages: robots.txt and catalogue endpoints. */
const isPage = (path: string) => !/robots\.txt|\.json|\.xml/.test(path);

/** Pages a second of one scanner process, transaction included, compared with a bare process that fetches the same paths and writes a row. */
export async function pageRows(
  plan: ScanPlan,
  progress: Progress,
): Promise<{ readonly rows: BenchRow[]; readonly broken: string[] }> {
  await using stack = new AsyncDisposableStack();
  const servers = await startServers(plan, stack);
  progress('first round, which compiles the code and does not count');
  const paths = await firstPaths(servers);
  const rounds: { readonly scan: Round; readonly bare: Round }[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    const [scan, bare] = [await scanAll(servers, paths), await fetchAll(servers, paths)];
    rounds.push({ scan, bare });
    progress(
      `round ${round}: ${rate(scan).toFixed(0)} pages/s, ${perCore(scan).toFixed(0)} a core; bare ${rate(bare).toFixed(0)}`,
    );
  }
  const rowOf = (metric: string, figure: (round: Round) => number): BenchRow => ({
    case: `${paths.filter(isPage).length} pages of ${Math.round(plan.pageBytes / 1_024)} KB and ${paths.filter((path) => !isPage(path)).length} other requests a scan`,
    metric,
    value: median(rounds.map(({ scan }) => figure(scan))),
    unit: '1/s',
    baseline: median(rounds.map(({ bare }) => figure(bare))),
    ratio: median(rounds.map(({ scan, bare }) => figure(scan) / figure(bare))),
  });
  const core = rowOf('scanner.pages_per_core_s', perCore);
  const isKept = core.value >= PROMISED_PAGES_PER_S;
  const broken = isKept ? [] : [`a core carries ${core.value.toFixed(0)} pages a second, promised are ${PROMISED_PAGES_PER_S}`];
  return { rows: [rowOf('scanner.pages_per_s', rate), core], broken };
}

const rate = ({ pages, seconds }: Round) => pages / seconds;
/** Based on CPU time of the process, so that it is comparable on a busy machine. */
const perCore = ({ pages, cpuMs }: Round) => (pages / cpuMs) * 1_000;

async function startServers(plan: ScanPlan, stack: AsyncDisposableStack): Promise<Servers> {
  const home = await mkdtemp(join(tmpdir(), 'vitrine-bench-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // The server may run as another user, who needs to traverse the folder.
  await chmod(home, 0o755);
  const folder = join(home, 'postgres');
  await mkdir(folder);
  const server = stack.use(await startEmbeddedServer({ folder, settings: [], isKept: false }));
  const dsn = new Secret(server.url);
  await migrate({ dsn, folder: MIGRATIONS_FOLDER });
  const pool = stack.use(new PostgresPool({ dsn, applicationName: 'bench' }));
  await importVocabulary(pool, VOCABULARY);
  const counts = [String(plan.storefronts), String(plan.pageBytes)];
  const storefronts = stack.use(await forked(new URL('./storefront-process.ts', import.meta.url), ...counts));
  const bare = stack.use(await forked(new URL('./bare-process.ts', import.meta.url), server.url));
  const hosts = Array.from({ length: plan.storefronts }, (_, i) => `shop-${i}.com`);
  const scannerPid = await startScanner({ home, dsn: server.url, httpPort: storefronts.port, hosts }, stack);
  return { storefronts, bare, pool, scannerPid, hosts };
}

interface ScannerTarget {
  readonly home: string;
  readonly dsn: string;
  readonly httpPort: number;
  readonly hosts: readonly string[];
}

/** Started like in production. Nothing listens on the https port, so the scanner reads plain HTTP. */
async function startScanner({ home, dsn, httpPort, hosts }: ScannerTarget, stack: AsyncDisposableStack): Promise<number> {
  const [node, ...args] = npmScript('enrich-scan-queue');
  const [port, closedPort] = [await freePort(), await freePort()];
  const file = join(home, 'scanner.yaml');
  const loopback = hosts.map((host) => `${host}=127.0.0.1:${httpPort}:${closedPort}`);
  await writeFile(file, JSON.stringify({ fetch: { loopback_hosts: loopback } }));
  const env = {
    PATH: process.env['PATH'],
    SCAN_CONFIG: file,
    SCAN_ENVIRONMENT: 'development',
    SCAN_LOG_LEVEL: 'warn',
    SCAN_SERVER_HOST: '127.0.0.1',
    SCAN_SERVER_PORT: String(port),
    SCAN_STORAGE_DSN: dsn,
    SCAN_QUEUE_DRIVER: 'database',
    SCAN_CONCURRENCY: String(CONCURRENCY),
    SCAN_POLITENESS: 'off',
    SCAN_RESCAN_ENABLED: 'false',
  };
  const child = spawn(node, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  stack.defer(() => stop(child));
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
  await waitUntil(isReady, { what: 'the scanner', timeoutMs: PATIENCE_MS });
  return child.pid ?? 0;
}

/** The paths that the scanner requests from a storefront. */
async function firstPaths(servers: Servers): Promise<string[]> {
  await scanAll(servers, []);
  const { paths } = (await servers.storefronts.call({})) as { paths: string[] };
  if (paths.length === 0) throw new Error('the scanner asked the first storefront for nothing');
  return paths;
}

async function scanAll({ pool, hosts, scannerPid }: Servers, paths: readonly string[]): Promise<Round> {
  await pool.query('DELETE FROM scan_jobs');
  const startedAt = performance.now();
  const cpuBefore = cpuMicrosOf(scannerPid) ?? Number.NaN;
  const scans = {
    domains: hosts,
    cause: 'requested',
    createId: () => createId('job', Date.now(), randomBytes),
  } as const;
  await pool.transaction((transaction) => queueScans(transaction, scans));
  const left = `SELECT count(*) FILTER (WHERE finished_at IS NULL)::int AS open, min(error) AS error FROM scan_jobs`;
  const isDone = async () => {
    const [row] = await pool.query<{ open: number; error: string | null }>(left);
    if (row?.error) throw new Error(`a scan failed: ${row.error}`);
    return row?.open === 0;
  };
  await waitUntil(isDone, { what: 'the scans', timeoutMs: PATIENCE_MS });
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    seconds,
    cpuMs: ((cpuMicrosOf(scannerPid) ?? Number.NaN) - cpuBefore) / 1_000,
    pages: hosts.length * paths.filter(isPage).length,
  };
}

async function fetchAll({ bare, storefronts, hosts }: Servers, paths: readonly string[]): Promise<Round> {
  const origin = `http://127.0.0.1:${storefronts.port}`;
  const result = (await bare.call({ origin, hosts, paths, concurrency: CONCURRENCY })) as Omit<Round, 'pages'>;
  return { ...result, pages: hosts.length * paths.filter(isPage).length };
}
