import { TraceAnalytics } from '@vitrine/traces/trace-analytics';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchOutcome, Progress } from '../bench.ts';
import { ANALYTICS_OPTIONS, readAnalyticsPlan, type AnalyticsPlan } from './analytics-plan.ts';
import { AnalyticsSession } from './analytics-session.ts';
import type { BenchStorage } from './bench-storage.ts';
import { compareGateways, fileVariables, startStorageGateway } from './compare-gateways.ts';
import { loadTraces } from './load-traces.ts';
import { openPostgresStorage } from './postgres-storage.ts';
import { LIST_FILTERS, pathOf, RARE_FILTERS, runQuery } from './queries.ts';
import { RawClient } from './raw-client.ts';
import { tenantOf } from './traffic.ts';

/** Measures how long a store takes to list and sum a few million traces. */
export const analyticsBench: Bench = {
  name: 'analytics',
  sentence: 'lists and analytics of a store over five million traces',
  options: ANALYTICS_OPTIONS,
  examples: [
    'analytics',
    'analytics --traces 200000 --repeats 10',
    'analytics --file /tmp/bench.db',
    'analytics --storage postgres --file /tmp/bench-postgres',
    'analytics --traces 500000 --against ../before',
  ],
  prepare(args) {
    const plan = readAnalyticsPlan(args);
    return 'problem' in plan ? plan : { run: (progress) => runAnalyticsBench(plan, progress) };
  },
};

async function runAnalyticsBench(plan: AnalyticsPlan, progress: Progress): Promise<BenchOutcome> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'vitrine-bench-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  // If started by root, Postgres runs as another user, who needs to traverse the folder.
  await chmod(dir, 0o711);
  const path = plan.file ?? join(dir, 'traces.db');
  const { against } = plan;
  if (against !== undefined) return { rows: await compareGateways(path, dir, { ...plan, against }, progress), broken: [] };
  const storage = stack.use(plan.storage === 'sqlite' ? fileStorage(path) : await openPostgresStorage(path, plan.dsn));
  const session = await measureStore(storage, plan, progress);
  await measureGateway(storage, dir, session);
  return { rows: session.rows, broken: session.broken };
}

function fileStorage(path: string): BenchStorage {
  return {
    variables: fileVariables(path),
    load: (plan, progress) => loadTraces(path, plan, progress),
    async [Symbol.asyncDispose]() {},
  };
}

/** Lists, and analytics of all tenants and of one: of the store itself, with its threads. */
async function measureStore(storage: BenchStorage, plan: AnalyticsPlan, progress: Progress): Promise<AnalyticsSession> {
  const loaded = await storage.load(plan, progress);
  await using store = loaded.store;
  const session = new AnalyticsSession(loaded.from, plan, progress);
  await session.load(loaded);
  // The read worker starts with the first query.
  await store.list({ limit: 1 });
  for (const [name, filter] of LIST_FILTERS) await session.list(store, 'lists', name, filter);
  for (const [name, filter] of RARE_FILTERS) await session.list(store, 'rare lists', name, filter);
  await session.lookups(store);
  const analytics = new TraceAnalytics(store);
  await session.analytics('analytics of all', (query) => runQuery(analytics, query));
  await session.analytics('analytics of a tenant', (query) => runQuery(analytics, { ...query, tenant: tenantOf(0) }));
  return session;
}

/** Analytics of all tenants once more, as received by a client of a gateway, to the last byte. The largest response has 4 MB. */
async function measureGateway({ variables }: BenchStorage, home: string, session: AnalyticsSession): Promise<void> {
  const gateway = await startStorageGateway(variables, home);
  try {
    using client = new RawClient(gateway.port);
    using beside = new RawClient(gateway.port);
    await session.analytics('analytics of all, over HTTP', (query) => client.get(pathOf(query)));
    const large = pathOf({ endpoint: 'usage', group_by: 'model', bucket: 'hour' });
    await session.meanwhile(
      'for health, beside usage by model and hour',
      () => client.get(large),
      () => beside.get('/api/health'),
    );
  } finally {
    await gateway.stop();
  }
}
