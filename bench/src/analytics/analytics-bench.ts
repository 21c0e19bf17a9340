import { TraceAnalytics } from '@vitrine/traces/trace-analytics';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { request } from 'undici';
import type { Bench, BenchOutcome, Progress } from '../bench.ts';
import { startGateway } from '../proxy/gateway-process.ts';
import { ANALYTICS_OPTIONS, readAnalyticsPlan, type AnalyticsPlan } from './analytics-plan.ts';
import { AnalyticsSession } from './analytics-session.ts';
import { loadTraces } from './load-traces.ts';
import { LIST_FILTERS, pathOf, RARE_FILTERS, runQuery } from './queries.ts';
import { tenantOf } from './traffic.ts';

/** How long the embedded store takes to list and to sum up a few million traces. */
export const analyticsBench: Bench = {
  name: 'analytics',
  sentence: 'lists and analytics of the embedded store over five million traces',
  options: ANALYTICS_OPTIONS,
  examples: ['analytics', 'analytics --traces 200000 --repeats 10', 'analytics --file /tmp/bench.db'],
  prepare(args) {
    const plan = readAnalyticsPlan(args);
    return 'problem' in plan ? plan : { run: (progress) => runAnalyticsBench(plan, progress) };
  },
};

async function runAnalyticsBench(plan: AnalyticsPlan, progress: Progress): Promise<BenchOutcome> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'vitrine-bench-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const path = plan.file ?? join(dir, 'traces.db');
  const session = await measureStore(path, plan, progress);
  await measureGateway(path, dir, session);
  return { rows: session.rows, broken: session.broken };
}

/** Lists, and analytics of all tenants and of one: of the store itself, with its threads. */
async function measureStore(path: string, plan: AnalyticsPlan, progress: Progress): Promise<AnalyticsSession> {
  const loaded = await loadTraces(path, plan, progress);
  await using store = loaded.store;
  const session = new AnalyticsSession(loaded.from, plan, progress);
  await session.load(loaded);
  // The read worker starts with the first query.
  await store.list({ limit: 1 });
  for (const [name, filter] of LIST_FILTERS) await session.list(store, 'lists', name, filter);
  for (const [name, filter] of RARE_FILTERS) await session.list(store, 'rare lists', name, filter);
  const analytics = new TraceAnalytics(store);
  await session.analytics('analytics of all', (query) => runQuery(analytics, query));
  await session.analytics('analytics of a tenant', (query) => runQuery(analytics, { ...query, tenant: tenantOf(0) }));
  return session;
}

/** Analytics of all tenants once more, as a client of a gateway gets them, to the last byte. The largest response has 4 MB. */
async function measureGateway(path: string, home: string, session: AnalyticsSession): Promise<void> {
  const variables = { SVC_STORAGE_PATH: resolve(path), SVC_TRACING_RETENTION_DAYS: '3650' };
  const gateway = await startGateway({ home, upstream: 'http://127.0.0.1:9', variables });
  try {
    const get = async (path: string) => {
      // The streams of `fetch` take longer over four megabytes than the gateway.
      const { statusCode, body } = await request(`http://127.0.0.1:${gateway.port}${path}`);
      const bytes = await body.bytes();
      if (statusCode !== 200) throw new Error(`GET ${path}: status ${statusCode}: ${Buffer.from(bytes).toString()}`);
      return bytes;
    };
    await get('/api/traces?limit=1');
    await session.analytics('analytics of all, over HTTP', (query) => get(pathOf(query)));
    const large = pathOf({ endpoint: 'usage', group_by: 'model', bucket: 'hour' });
    await session.meanwhile(
      'for health, beside usage by model and hour',
      () => get(large),
      () => get('/api/health'),
    );
  } finally {
    await gateway.stop();
  }
}
