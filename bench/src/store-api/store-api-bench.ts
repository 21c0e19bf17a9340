import { reconcileUsage } from '@vitrine/stores/metering/usage-reports';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchOutcome, BenchRow, Progress } from '../bench.ts';
import { forked, forkedWith, type Forked } from '../forked.ts';
import { median } from '../median.ts';
import { cpuMicrosOf } from '../proxy/process-cost.ts';
import { runBesideOthers } from './beside-others.ts';
import type { StoreLoadOrder, StoreLoadResult } from './load.ts';
import { HEAP_FLAGS, startService } from './service-process.ts';
import { readStoreApiPlan, STORE_API_OPTIONS, type StoreApiPlan } from './store-api-plan.ts';
import { openStoreData, type StoreData } from './store-data.ts';
import { KEYS } from './tokens.ts';

const MIB = 2 ** 20;
const MIN_GET_RATIO = 0.6;
const MAX_ENRICH_P95_MS = 60;
const GET_CONNECTIONS = 16;
const WARM_UP_SECONDS = 4;

interface LoadCase {
  readonly name: string;
  readonly order: Pick<StoreLoadOrder, 'kind' | 'connections' | 'keys'>;
}
const CASES: readonly LoadCase[] = [
  { name: 'get, 64 keys in 16 workspaces', order: { kind: 'get', connections: GET_CONNECTIONS, keys: KEYS } },
  { name: 'get, one hot key', order: { kind: 'get', connections: GET_CONNECTIONS, keys: 1 } },
  { name: 'enrich of 100, 1 in flight', order: { kind: 'enrich', connections: 1, keys: KEYS } },
  { name: 'enrich of 100, 8 in flight', order: { kind: 'enrich', connections: 8, keys: KEYS } },
];

/** The cost of the store API compared with a minimal server of the same data. */
export const storeApiBench: Bench = {
  name: 'store-api',
  sentence: 'lookups and batches of a million stores, beside a bare node and pg handler with the same statements',
  options: STORE_API_OPTIONS,
  examples: [
    'store-api',
    'store-api --stores 20000 --ledger 50000 --only crowd',
    'store-api --stores 20000 --ledger 50000 --rounds 3',
    'store-api --file /tmp/bench-stores',
  ],
  prepare(args) {
    const plan = readStoreApiPlan(args);
    return 'problem' in plan ? plan : { run: (progress) => runStoreApiBench(plan, progress) };
  },
};

interface Target {
  readonly name: 'service' | 'bare';
  readonly pid: number;
  readonly port: number;
}

/** One load of one target. CPU in microseconds for each request, of the target, of the client, and of the database. */
interface Measured {
  readonly load: StoreLoadResult;
  readonly targetCpu: number;
  readonly databaseCpu: number;
}

async function runStoreApiBench(plan: StoreApiPlan, progress: Progress): Promise<BenchOutcome> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'vitrine-bench-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // If this process is root, Postgres runs as another user, who needs to traverse the folder.
  await chmod(home, 0o755);
  const data = stack.use(await openStoreData(plan.folder ?? join(home, 'postgres'), plan, progress));
  const service = stack.use(await startService(home, data.serviceDsn));
  const bare = stack.use(await forkedWith(HEAP_FLAGS, new URL('./bare-process.ts', import.meta.url), data.serviceDsn));
  const client = stack.use(await forked(new URL('./load-process.ts', import.meta.url)));
  const targets: Target[] = [
    { name: 'service', ...service },
    { name: 'bare', ...bare },
  ];
  const rows: BenchRow[] = [{ case: 'load', metric: 'database.size', value: data.sizeBytes / MIB, unit: 'MiB' }];
  const broken: string[] = [];
  for (const item of CASES.filter(({ order }) => plan.only === undefined || order.kind === plan.only)) {
    const measured = await runCase(item, { targets, client, data }, plan, progress);
    rows.push(...rowsOf(item, measured));
    broken.push(...brokenBy(item, measured));
  }
  if (plan.only === undefined || plan.only === 'crowd') {
    const beside = await runBesideOthers({ port: service.port, client, pool: data.pool, plan }, progress);
    rows.push(...beside.rows);
    broken.push(...beside.broken);
  }
  const differences = await reconcileUsage(data.pool);
  if (differences.length > 0) broken.push(`counters and ledger differ in ${differences.length} periods`);
  return { rows, broken };
}

/** Service and baseline take turns, each first in every other round, after a warm-up of both. */
async function runCase(
  { name, order }: LoadCase,
  { targets, client, data }: { targets: readonly Target[]; client: Forked; data: StoreData },
  { rounds, seconds, stores }: StoreApiPlan,
  progress: Progress,
): Promise<Map<Target['name'], Measured[]>> {
  const measured = new Map(targets.map((target) => [target.name, [] as Measured[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      const [before, databaseBefore] = [cpuMicrosOf(target.pid) ?? Number.NaN, await data.cpuMicros()];
      const sent = { ...order, port: target.port, stores, seconds: round === 0 ? WARM_UP_SECONDS : seconds };
      const load = (await client.call(sent)) as StoreLoadResult;
      const each = (micros: number) => micros / Math.max(1, load.completed);
      const targetCpu = each((cpuMicrosOf(target.pid) ?? Number.NaN) - before);
      const databaseCpu = each(usedBetween(databaseBefore, await data.cpuMicros()));
      if (round > 0) measured.get(target.name)?.push({ load, targetCpu, databaseCpu });
      const figures = `${load.reqPerSec.toFixed(0)} req/s  p50 ${load.p50Ms.toFixed(1)} p95 ${load.p95Ms.toFixed(1)} ms`;
      const cpu = `cpu ${ms(targetCpu)}, database ${ms(databaseCpu)}, client ${ms(load.clientCpuMicros)}`;
      const errors = load.errors === 0 ? '' : `  ERRORS ${load.errors}: ${load.errorSamples.join('; ')}`;
      progress(`${name}  ${target.name}  ${round === 0 ? 'warm-up' : `round ${round}`}  ${figures}  ${cpu}${errors}`);
    }
  }
  return measured;
}

/** Only of running processes, because long idle connections are closed. */
function usedBetween(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return after.entries().reduce((sum, [pid, micros]) => sum + micros - (before.get(pid) ?? 0), 0);
}

const ms = (micros: number) => `${(micros / 1_000).toFixed(2)} ms`;

function rowsOf({ name }: LoadCase, measured: ReadonlyMap<Target['name'], readonly Measured[]>): BenchRow[] {
  const values = (target: Target['name'], read: (one: Measured) => number) => (measured.get(target) ?? []).map(read);
  const row = (metric: string, unit: string, read: (one: Measured) => number): BenchRow[] => {
    const [service, bare] = [values('service', read), values('bare', read)];
    const ratio = median(service.map((value, round) => value / (bare[round] ?? Number.NaN)));
    const baseline = median(bare);
    return [
      { case: name, metric: `service.${metric}`, value: median(service), unit, baseline, ratio },
      { case: name, metric: `bare.${metric}`, value: baseline, unit },
    ];
  };
  return [
    ...row('req_per_s', 'req/s', ({ load }) => load.reqPerSec),
    ...row('p50', 'ms', ({ load }) => load.p50Ms),
    ...row('p95', 'ms', ({ load }) => load.p95Ms),
    ...row('cpu', 'us', ({ targetCpu }) => targetCpu),
    ...row('database_cpu', 'us', ({ databaseCpu }) => databaseCpu),
    ...row('client_cpu', 'us', ({ load }) => load.clientCpuMicros),
    ...row('bytes', 'B', ({ load }) => load.bytes),
  ];
}

function brokenBy({ name, order }: LoadCase, measured: ReadonlyMap<Target['name'], readonly Measured[]>): string[] {
  const all = [...measured].flatMap(([target, loads]) =>
    loads.flatMap(({ load }) =>
      load.errors > 0 ? [`${name}, ${target}: ${load.errors} errors (${load.errorSamples.join('; ')})`] : [],
    ),
  );
  const service = measured.get('service') ?? [];
  const bare = measured.get('bare') ?? [];
  const p95 = median(service.map(({ load }) => load.p95Ms));
  const ratio = median(service.map(({ load }, round) => load.reqPerSec / (bare[round]?.load.reqPerSec ?? Number.NaN)));
  if (order.kind === 'get' && !(ratio >= MIN_GET_RATIO))
    all.push(`${name}: ${ratio.toFixed(2)} of the baseline, not ${MIN_GET_RATIO}`);
  if (order.kind === 'enrich' && !(p95 < MAX_ENRICH_P95_MS))
    all.push(`${name}: p95 ${p95.toFixed(1)} ms, not below ${MAX_ENRICH_P95_MS} ms`);
  return all;
}
