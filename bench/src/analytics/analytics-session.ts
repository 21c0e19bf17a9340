import type { AnalyticsQuery } from '@vitrine/traces/trace-analytics';
import type { EmbeddedTraceStore } from '@vitrine/trace-store-sqlite/embedded-trace-store';
import { readCursor } from '@vitrine/traces/trace-store';
import type { BenchRow, Progress } from '../bench.ts';
import type { AnalyticsPlan } from './analytics-plan.ts';
import type { Loaded } from './load-traces.ts';
import { ENDPOINTS, HOUR_MS, LARGE_SERIES, RANGES, type ListFilter, type Range } from './queries.ts';

const PAGE = 50;
const FAR_PAGE = 100;
/** Askings that are not measured: the first ones compile what the others run. */
const WARM_UPS = 10;
const MIB = 2 ** 20;

/** Asks the questions of the bench as often as planned, and keeps what they took. */
export class AnalyticsSession {
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

  async analytics(name: string, ask: (question: AnalyticsQuery) => Promise<Uint8Array>): Promise<void> {
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

  /** The largest series as nobody asked for them before: each begins an hour earlier than the one before, so that nothing helps which
   *  the store kept of another. */
  async firstAskings(name: string, ask: (question: AnalyticsQuery) => Promise<Uint8Array>): Promise<void> {
    for (const [endpoint, question] of LARGE_SERIES) {
      let from = this.#from;
      await this.#measure(name, `${endpoint}, all time`, () => ask({ ...question, from: (from -= HOUR_MS) }));
    }
  }

  /** How long small requests wait at most, one after the other, while a large answer is made and sent: what one client's question
   *  costs the others. */
  async meanwhile(name: string, large: () => Promise<unknown>, small: () => Promise<unknown>): Promise<void> {
    const longest: number[] = [];
    for (let i = 0; i < this.#plan.repeats; i += 1) {
      const under = { way: true };
      const over = large().finally(() => (under.way = false));
      let most = 0;
      while (under.way) {
        const started = performance.now();
        await small();
        most = Math.max(most, performance.now() - started);
      }
      await over;
      longest.push(most);
    }
    this.#tell('the longest wait', name, longest, 1);
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
    for (let i = 0; i < WARM_UPS; i += 1) await ask(i);
    for (let i = 0; i < this.#plan.repeats; i += 1) {
      const started = performance.now();
      const answer = await ask(i);
      times.push(performance.now() - started);
      found = Math.max(found, typeof answer === 'number' ? answer : rowsOf(answer));
    }
    this.#tell(name, subject, times, found);
    return found;
  }

  #tell(name: string, subject: string, times: number[], found: number): void {
    times.sort((left, right) => left - right);
    const at = (share: number) => times[Math.max(0, Math.ceil(share * times.length) - 1)] ?? Number.NaN;
    this.rows.push(
      { case: name, metric: `${subject}.p50`, value: at(0.5), unit: 'ms' },
      { case: name, metric: `${subject}.p95`, value: at(0.95), unit: 'ms' },
      { case: name, metric: `${subject}.found`, value: found, unit: 'rows' },
    );
    this.#progress(`${name}  ${subject}  p50 ${at(0.5).toFixed(2)} ms  p95 ${at(0.95).toFixed(2)} ms  ${found} rows`);
  }
}

/** An answer without rows is one. */
function rowsOf(answer: Uint8Array): number {
  const { items } = JSON.parse(Buffer.from(answer).toString()) as { items?: unknown[] };
  return items?.length ?? 1;
}
