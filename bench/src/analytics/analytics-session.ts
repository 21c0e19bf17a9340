import { readCursor, type TraceStore } from '@vitrine/traces/trace-store';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { BenchRow, Progress } from '../bench.ts';
import type { AnalyticsPlan } from './analytics-plan.ts';
import type { Loaded } from './bench-storage.ts';
import { ENDPOINTS, RANGES, shareOf, WARM_UPS, type EndpointQuery, type ListFilter, type Range } from './queries.ts';

const PAGE = 50;
const FAR_PAGE = 100;
const MIB = 2 ** 20;
const LONGEST_WAIT = 'the longest wait';

/** Runs the queries of the bench as often as planned, and records their durations. */
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

  async load({ store, microsPerTrace: made, sizeBytes }: Loaded): Promise<void> {
    const { traceCount } = await store.summary();
    this.rows.push(
      { case: 'load', metric: 'traces.count', value: traceCount, unit: 'traces' },
      ...(made === undefined ? [] : [{ case: 'load', metric: 'traces.made_and_written', value: made, unit: 'us/trace' }]),
      { case: 'load', metric: 'traces.size', value: sizeBytes / MIB, unit: 'MiB' },
    );
  }

  /** Page 1 and page 100, over all time and within a day. A filter that has no page 100 has no figure for it. */
  async list(store: TraceStore, name: string, what: string, filter: ListFilter): Promise<void> {
    for (const [rangeName, range] of RANGES.filter(([range]) => range !== '7 days')) {
      const rangeAt = (i: number) => range(this.#from, this.#plan.days, shareOf(i));
      const subject = `${what}, ${rangeName}`;
      const found = await this.#measure(name, `${subject}, page 1`, async (i) => {
        const { items } = await store.list({ ...filter, ...rangeAt(i), limit: PAGE });
        return items.length;
      });
      if (found === 0 && rangeName === 'all time' && name === 'lists') this.broken.push(`${subject}: nothing was found`);
      if (!this.#plan.isWanted(rowName(name, `${subject}, page ${FAR_PAGE}`))) continue;
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

  /** Single traces of all days by their ids. */
  async lookups(store: TraceStore): Promise<void> {
    const ids: string[] = [];
    for (let i = 0; i < this.#plan.repeats + WARM_UPS; i += 1) {
      const to = this.#from + Math.ceil((0.05 + 0.95 * shareOf(i)) * this.#plan.days * DAY_MS);
      const { items } = await store.list({ to, limit: 1 });
      ids.push(...items.map(({ id }) => id));
    }
    const idAt = (i: number) => ids[(i * 7) % ids.length] ?? '';
    await this.#measure('lookups', 'a trace by id', async (i) => Number((await store.get(idAt(i))) !== undefined));
    const lineOf = (i: number) => store.ancestors({ id: idAt(i), limit: 501 });
    await this.#measure('lookups', 'a line of parents', async (i) => (await lineOf(i)).length);
  }

  async analytics(name: string, run: (query: EndpointQuery) => Promise<object>): Promise<void> {
    for (const [endpoint, query] of ENDPOINTS) {
      for (const [rangeName, range] of RANGES) {
        const subject = `${endpoint}, ${rangeName}`;
        const found = await this.#measure(name, subject, (i) =>
          run({ ...query, ...range(this.#from, this.#plan.days, shareOf(i)) }),
        );
        if (found === 0) this.broken.push(`${name}, ${subject}: nothing was found`);
      }
    }
  }

  /** The maximum latency of consecutive small requests while a large response is created and sent: the effect of one client's query on others. */
  async meanwhile(name: string, large: () => Promise<unknown>, small: () => Promise<unknown>): Promise<void> {
    if (!this.#plan.isWanted(rowName(LONGEST_WAIT, name))) return;
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
    this.#report(LONGEST_WAIT, name, longest, 1);
  }

  /** The cursor of page 100. */
  async #farCursor(store: TraceStore, filter: ListFilter, range: Range): Promise<Uint8Array | undefined> {
    let after: Uint8Array | undefined;
    for (let left = PAGE * (FAR_PAGE - 1); left > 0; left -= 200) {
      const page = await store.list({ ...filter, ...range, limit: Math.min(left, 200), after });
      if (page.next_cursor === undefined) return undefined;
      after = readCursor(page.next_cursor);
    }
    return after;
  }

  /** Runs a query as often as planned; returns the maximum number of rows, undefined if not requested. */
  async #measure(name: string, subject: string, run: (i: number) => Promise<number | object>): Promise<number | undefined> {
    if (!this.#plan.isWanted(rowName(name, subject))) return undefined;
    const times: number[] = [];
    let found = 0;
    // Rows are counted here, because parsed objects of a large response would be collected while the next ones are timed.
    for (let i = 0; i < WARM_UPS; i += 1) {
      const response = await run(i);
      found = Math.max(found, typeof response === 'number' ? response : rowsOf(response));
      release(response);
    }
    for (let i = 0; i < this.#plan.repeats; i += 1) {
      const started = performance.now();
      const response = await run(i);
      times.push(performance.now() - started);
      release(response);
    }
    this.#report(name, subject, times, found);
    return found;
  }

  #report(name: string, subject: string, times: number[], found: number): void {
    times.sort((left, right) => left - right);
    const at = (share: number) => times[Math.max(0, Math.ceil(share * times.length) - 1)] ?? Number.NaN;
    this.rows.push(
      { case: name, metric: `${subject}.p50`, value: at(0.5), unit: 'ms' },
      { case: name, metric: `${subject}.p95`, value: at(0.95), unit: 'ms' },
      { case: name, metric: `${subject}.found`, value: found, unit: 'rows' },
    );
    this.#progress(`${rowName(name, subject)}  p50 ${at(0.5).toFixed(2)} ms  p95 ${at(0.95).toFixed(2)} ms  ${found} rows`);
  }
}

function rowName(name: string, subject: string): string {
  return `${name}  ${subject}`;
}

/** Releases the memory of a series, like a server after sending it. */
function release(response: number | Partial<Disposable>): void {
  if (typeof response !== 'number') response[Symbol.dispose]?.();
}

/** A response without rows counts as one. */
function rowsOf(response: object): number {
  const json: unknown = response instanceof Uint8Array ? JSON.parse(Buffer.from(response).toString()) : response;
  return (json as { readonly items?: readonly unknown[] }).items?.length ?? 1;
}
