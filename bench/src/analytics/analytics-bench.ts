import type { EmbeddedTraceStore } from '@vitrine/traces/sqlite/embedded-trace-store';
import { readCursor } from '@vitrine/traces/trace-store';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchOutcome, BenchRow, Progress } from '../bench.ts';
import { ANALYTICS_OPTIONS, readAnalyticsPlan, type AnalyticsPlan } from './analytics-plan.ts';
import { loadTraces, type Loaded } from './load-traces.ts';
import { ENDPOINTS, LIST_FILTERS, RANGES, RARE_FILTERS, type ListFilter, type Range } from './questions.ts';
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
  const loaded = await loadTraces(plan.file ?? join(dir, 'traces.db'), plan, progress);
  stack.use(loaded.store);
  const session = new Session(loaded, plan, progress);
  const load = await session.load();
  // The read worker starts with the first question.
  await loaded.store.list({ limit: 1 });
  for (const [name, filter] of LIST_FILTERS) await session.list('lists', name, filter);
  for (const [name, filter] of RARE_FILTERS) await session.list('rare lists', name, filter);
  for (const scoped of [false, true]) await session.analytics(scoped);
  return { rows: [...load, ...session.rows], broken: session.broken };
}

class Session {
  readonly rows: BenchRow[] = [];
  readonly broken: string[] = [];
  readonly #store: EmbeddedTraceStore;
  readonly #from: number;
  readonly #plan: AnalyticsPlan;
  readonly #progress: Progress;
  readonly #microsPerTrace: number | undefined;

  constructor({ store, from, microsPerTrace }: Loaded, plan: AnalyticsPlan, progress: Progress) {
    this.#store = store;
    this.#from = from;
    this.#plan = plan;
    this.#progress = progress;
    this.#microsPerTrace = microsPerTrace;
  }

  async load(): Promise<BenchRow[]> {
    const { traceCount, sizeBytes } = await this.#store.summary();
    const made = this.#microsPerTrace;
    return [
      { case: 'load', metric: 'traces.count', value: traceCount, unit: 'traces' },
      ...(made === undefined ? [] : [{ case: 'load', metric: 'traces.made_and_written', value: made, unit: 'us/trace' }]),
      { case: 'load', metric: 'traces.size', value: (sizeBytes ?? 0) / MIB, unit: 'MiB' },
    ];
  }

  /** Page 1 and page 100, over all time and within a day. A filter that has no page 100 has no figure for it. */
  async list(name: string, what: string, filter: ListFilter): Promise<void> {
    for (const [rangeName, range] of RANGES.filter(([range]) => range !== '7 days')) {
      const rangeAt = (i: number) => range(this.#from, this.#plan.days, this.#shareOf(i));
      const subject = `${what}, ${rangeName}`;
      const found = await this.#measure(name, `${subject}, page 1`, async (i) => {
        const { items } = await this.#store.list({ ...filter, ...rangeAt(i), limit: PAGE });
        return items.length;
      });
      if (found === 0 && rangeName === 'all time' && name === 'lists') this.broken.push(`${subject}: nothing was found`);
      const cursors: (Uint8Array | undefined)[] = [];
      const places = rangeName === 'all time' ? 1 : this.#plan.repeats;
      for (let i = 0; i < places; i += 1) cursors.push(await this.#farCursor(filter, rangeAt(i)));
      if (cursors.some((after) => after === undefined)) continue;
      await this.#measure(name, `${subject}, page ${FAR_PAGE}`, async (i) => {
        const after = cursors[i % cursors.length];
        return (await this.#store.list({ ...filter, ...rangeAt(i), limit: PAGE, after })).items.length;
      });
    }
  }

  async analytics(scoped: boolean): Promise<void> {
    const tenant = scoped ? tenantOf(0) : undefined;
    const name = scoped ? 'analytics of a tenant' : 'analytics of all';
    for (const [endpoint, questions] of ENDPOINTS) {
      for (const [rangeName, range] of RANGES) {
        const found = await this.#measure(name, `${endpoint}, ${rangeName}`, async (i) => {
          const at = range(this.#from, this.#plan.days, this.#shareOf(i));
          const answers = await Promise.all(questions.map((one) => this.#store.measure({ ...one, ...at, tenant })));
          return answers.flat().length;
        });
        if (found === 0) this.broken.push(`${name}, ${endpoint}, ${rangeName}: nothing was found`);
      }
    }
  }

  /** Anywhere, and the same at every run. */
  #shareOf(i: number): number {
    return (i * 0.618_034) % 1;
  }

  /** Where page 100 begins. */
  async #farCursor(filter: ListFilter, range: Range): Promise<Uint8Array | undefined> {
    let after: Uint8Array | undefined;
    for (let left = PAGE * (FAR_PAGE - 1); left > 0; left -= 200) {
      const page = await this.#store.list({ ...filter, ...range, limit: Math.min(left, 200), after });
      if (page.next_cursor === undefined) return undefined;
      after = readCursor(page.next_cursor);
    }
    return after;
  }

  /** Asks as often as planned, answers how much the last answer held. */
  async #measure(name: string, subject: string, ask: (i: number) => Promise<number>): Promise<number> {
    const times: number[] = [];
    let found = 0;
    for (let i = 0; i < this.#plan.repeats; i += 1) {
      const started = performance.now();
      found = Math.max(found, await ask(i));
      times.push(performance.now() - started);
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
