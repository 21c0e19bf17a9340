import type { BenchRow, Progress } from '../bench.ts';
import type { GatewayProcess } from '../proxy/gateway-process.ts';
import { rssMibOf } from '../proxy/process-cost.ts';
import type { HostileProvider } from './hostile-provider.ts';
import { settledCounts, type TraceCounts } from './stored-paths.ts';

/** Cases between two checks of what the gateway has counted and stored. */
const BATCH = 20_000;
/** Maximum findings printed per kind; the rest is counted. */
const SHOWN = 5;

export interface HostileSide {
  readonly name: 'requests' | 'responses';
  /** At once. */
  readonly concurrency: number;
  /** Plays the case and adds to `tally`: its keys are the columns of the report. */
  play(id: number, tally: Tally): Promise<void>;
  /** Checks the results of a batch. `traces` is the number accepted by the gateway. */
  check(traces: number): Promise<void>;
}

export type Tally = (kind: string, what: string) => void;

/** One side of the bench: its counts, violations, and the gateway's memory during the run. */
export class HostileSession {
  readonly #gateway: GatewayProcess;
  readonly #provider: HostileProvider;
  readonly #progress: Progress;
  readonly #counts = new Map<string, number>();
  readonly #findings = new Map<string, string[]>();
  readonly #rss: number[] = [];

  constructor(gateway: GatewayProcess, provider: HostileProvider, progress: Progress) {
    this.#gateway = gateway;
    this.#provider = provider;
    this.#progress = progress;
  }

  /** A violated promise; `detail` allows to repeat the case. */
  found(sort: string, detail: string): void {
    const of = this.#findings.get(sort) ?? [];
    this.#findings.set(sort, of);
    // Also printed at once, because a run takes many minutes.
    if (of.length < SHOWN) this.#progress(`found: ${sort}: ${detail.slice(0, 600)}`);
    of.push(of.length < SHOWN ? detail.slice(0, 600) : '');
  }

  async run(side: HostileSide, first: number, count: number): Promise<void> {
    const url = `http://127.0.0.1:${this.#gateway.port}`;
    let before = await settledCounts(url);
    const started = performance.now();
    for (let done = 0; done < count; done += BATCH) {
      const until = Math.min(count, done + BATCH);
      await this.#play(side, first + done, first + until);
      const now = await settledCounts(url);
      await this.#lookAt(side, before, now);
      before = now;
      const mib = rssMibOf(this.#gateway.pid);
      if (mib !== undefined) this.#rss.push(mib);
      const perSecond = (until / (performance.now() - started)) * 1_000;
      this.#progress(
        `${side.name}  ${until.toLocaleString('en')} of ${count.toLocaleString('en')}  ${perSecond.toFixed(0)}/s  rss ${(mib ?? 0).toFixed(0)} MiB  found ${this.#found()}`,
      );
    }
    this.#judgeMemory(side.name);
  }

  rows(): BenchRow[] {
    return [...this.#counts]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => {
        const [name = '', metric = ''] = key.split('\n');
        return { case: `hostile ${name}`, metric, value, unit: '' };
      });
  }

  broken(): string[] {
    return [...this.#findings].flatMap(([sort, of]) => [
      `${sort}: ${of.length} times`,
      ...of.filter((detail) => detail !== '').map((detail) => `  ${detail}`),
    ]);
  }

  async #play(side: HostileSide, from: number, to: number): Promise<void> {
    const tally: Tally = (kind, what) => {
      for (const key of [`${side.name}\n${what}.${kind}`, `${side.name}\n${what}.all`])
        this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    };
    let next = from;
    const lane = async () => {
      while (next < to) await side.play(next++, tally);
    };
    await Promise.all(Array.from({ length: side.concurrency }, lane));
  }

  async #lookAt(side: HostileSide, before: TraceCounts, now: TraceCounts): Promise<void> {
    const accepted = now.accepted - before.accepted;
    const written = now.written - before.written;
    if (now.dropped !== before.dropped) this.found('traces dropped', String(now.dropped - before.dropped));
    if (written !== accepted) this.found('traces accepted but not written', `${accepted} accepted, ${written} written`);
    await side.check(accepted);
    for (const refused of this.#provider.refused.splice(0))
      this.found('a forwarded request that a strict reader refuses', refused);
    this.#provider.begun.length = 0;
    this.#provider.whole.length = 0;
  }

  #found(): number {
    return [...this.#findings.values()].reduce((sum, of) => sum + of.length, 0);
  }

  /** Bounded memory: the last quarter of a run is no more than a quarter above the second. */
  #judgeMemory(name: string): void {
    const quarter = Math.floor(this.#rss.length / 4);
    if (quarter < 2) return;
    const highest = (from: number) => Math.max(...this.#rss.slice(from, from + quarter));
    const [second, last] = [highest(quarter), highest(this.#rss.length - quarter)];
    this.#counts.set(`${name}, memory\nMiB.second quarter`, Math.round(second));
    this.#counts.set(`${name}, memory\nMiB.last quarter`, Math.round(last));
    if (last > second * 1.25)
      this.found('memory grows', `${second.toFixed(0)} MiB in the second quarter, ${last.toFixed(0)} in the last`);
  }
}
