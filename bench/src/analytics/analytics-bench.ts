import type { EmbeddedTraceStore } from '@vitrine/traces/sqlite/embedded-trace-store';
import type { AnalyticsQuestion } from '@vitrine/traces/answer-analytics';
import { readCursor } from '@vitrine/traces/trace-store';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Bench, BenchOutcome, BenchRow, Progress } from '../bench.ts';
import { startGateway } from '../proxy/gateway-process.ts';
import { ANALYTICS_OPTIONS, readAnalyticsPlan, type AnalyticsPlan } from './analytics-plan.ts';
import { loadTraces, type Loaded } from './load-traces.ts';
import { ENDPOINTS, LIST_FILTERS, pathOf, RANGES, RARE_FILTERS, type ListFilter, type Range } from './questions.ts';
import { tenantOf } from './traffic.ts';

const PAGE = 50;
const FAR_PAGE = 100;
const MIB = 2 ** 20;

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
  const session = await askStore(path, plan, progress);
  await askGateway(path, dir, session);
  return { rows: session.rows, broken: session.broken };
}

/** Lists, and what a tenant is answered: as the store answers, with its threads. */
async function askStore(path: string, plan: AnalyticsPlan, progress: Progress): Promise<Session> {
  const loaded = await loadTraces(path, plan, progress);
  await using store = loaded.store;
  const session = new Session(loaded.from, plan, progress);
  await session.load(loaded);
  // The read worker starts with the first question.
  await store.list({ limit: 1 });
  for (const [name, filter] of LIST_FILTERS) await session.list(store, 'lists', name, filter);
  for (const [name, filter] of RARE_FILTERS) await session.list(store, 'rare lists', name, filter);
  await session.analytics('analytics of a tenant', (question) => store.answer({ ...question, tenant: tenantOf(0) }));
  return session;
}

/** What everybody together is answered: as a client of a gateway gets it, to the last byte. */
async function askGateway(path: string, home: string, session: Session): Promise<void> {
  const variables = { SVC_STORAGE_PATH: resolve(path), SVC_TRACING_RETENTION_DAYS: '3650' };
  const gateway = await startGateway({ home, upstream: 'http://127.0.0.1:9', variables });
  try {
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`);
      const answer = new Uint8Array(await response.arrayBuffer());
      if (response.status !== 200) throw new Error(`${path} was answered ${response.status}: ${Buffer.from(answer).toString()}`);
      return answer;
    };
    await get('/api/traces?limit=1');
    await session.analytics('analytics of all, over HTTP', (question) => get(pathOf(question)));
  } finally {
    await gateway.stop();
  }
}

class Session {
  readonly rows: BenchRow[] = [];
  readonly broken: string[] = [];
  readonly #from: number;
  readonly #plan: AnalyticsPlan;
  readonly #progress: Progress;

  constructor(from: number, plan: AnalyticsPlan, progress: Progress) {
    this.#from = from;
    this.#plan = plan;
    this.#progress = progress;
  }

  async load({ store, microsPerTrace: made }: Loaded): Promise<void> {
    const { traceCount, sizeBytes } = await store.summary();
    this.rows.push(
      { case: 'load', metric: 'traces.count', value: traceCount, unit: 'traces' },
      ...(made === undefined ? [] : [{ case: 'load', metric: 'traces.made_and_written', value: made, unit: 'us/trace' }]),
      { case: 'load', metric: 'traces.size', value: (sizeBytes ?? 0) / MIB, unit: 'MiB' },
    );
  }

  /** Page 1 and page 100, over all time and within a day. A filter that has no page 100 has no figure for it. */
  async list(store: EmbeddedTraceStore, name: string, what: string, filter: ListFilter): Promise<void> {
    for (const [rangeName, range] of RANGES.filter(([range]) => range !== '7 days')) {
      const rangeAt = (i: number) => range(this.#from, this.#plan.days, this.#shareOf(i));
      const subject = `${what}, ${rangeName}`;
      const found = await this.#measure(name, `${subject}, page 1`, async (i) => {
        const { items } = await store.list({ ...filter, ...rangeAt(i), limit: PAGE });
        return items.length;
      });
      if (found === 0 && rangeName === 'all time' && name === 'lists') this.broken.push(`${subject}: nothing was found`);
      const cursors: (Uint8Array | undefined)[] = [];
      const places = rangeName === 'all time' ? 1 : this.#plan.repeats;
      for (let i = 0; i < places; i += 1) cursors.push(await this.#farCursor(store, filter, rangeAt(i)));
      if (cursors.some((after) => after === undefined)) continue;
      await this.#measure(name, `${subject}, page ${FAR_PAGE}`, async (i) => {
        const after = cursors[i % cursors.length];
        return (await store.list({ ...filter, ...rangeAt(i), limit: PAGE, after })).items.length;
      });
    }
  }

  async analytics(name: string, ask: (question: AnalyticsQuestion) => Promise<Uint8Array>): Promise<void> {
    for (const [endpoint, question] of ENDPOINTS) {
      for (const [rangeName, range] of RANGES) {
        const subject = `${endpoint}, ${rangeName}`;
        const found = await this.#measure(name, subject, (i) =>
          ask({ ...question, ...range(this.#from, this.#plan.days, this.#shareOf(i)) }),
        );
        if (found === 0) this.broken.push(`${name}, ${subject}: nothing was found`);
      }
    }
  }

  /** Anywhere, and the same at every run. */
  #shareOf(i: number): number {
    return (i * 0.618_034) % 1;
  }

  /** Where page 100 begins. */
  async #farCursor(store: EmbeddedTraceStore, filter: ListFilter, range: Range): Promise<Uint8Array | undefined> {
    let after: Uint8Array | undefined;
    for (let left = PAGE * (FAR_PAGE - 1); left > 0; left -= 200) {
      const page = await store.list({ ...filter, ...range, limit: Math.min(left, 200), after });
      if (page.next_cursor === undefined) return undefined;
      after = readCursor(page.next_cursor);
    }
    return after;
  }

  /** Asks as often as planned, answers how many rows there were at most. */
  async #measure(name: string, subject: string, ask: (i: number) => Promise<number | Uint8Array>): Promise<number> {
    const times: number[] = [];
    let found = 0;
    for (let i = 0; i < this.#plan.repeats; i += 1) {
      const started = performance.now();
      const answer = await ask(i);
      times.push(performance.now() - started);
      found = Math.max(found, typeof answer === 'number' ? answer : rowsOf(answer));
    }
    times.sort((left, right) => left - right);
    const at = (share: number) => times[Math.max(0, Math.ceil(share * times.length) - 1)] ?? Number.NaN;
    this.rows.push(
      { case: name, metric: `${subject}.p50`, value: at(0.5), unit: 'ms' },
      { case: name, metric: `${subject}.p95`, value: at(0.95), unit: 'ms' },
      { case: name, metric: `${subject}.found`, value: found, unit: 'rows' },
    );
    this.#progress(`${name}  ${subject}  p50 ${at(0.5).toFixed(2)} ms  p95 ${at(0.95).toFixed(2)} ms  ${found} rows`);
    return found;
  }
}

/** An answer without rows is one. */
function rowsOf(answer: Uint8Array): number {
  const { items } = JSON.parse(Buffer.from(answer).toString()) as { items?: unknown[] };
  return items?.length ?? 1;
}
