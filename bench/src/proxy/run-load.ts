import { Lane, type Ending, type Traffic } from './lane.ts';
import { stepsOf, type LoadOrder, type LoadResult } from './load.ts';

const TOO_MANY_ERRORS = 100;
const STALL_MS = 30_000;

/** Runs one load to its end. It waits for every request that was sent, so that counts here, at the mock and in a database agree. */
export function runLoad(order: LoadOrder): Promise<LoadResult> {
  return new Run(order).result;
}

class Run implements Traffic {
  readonly port: number;
  readonly steps;
  readonly result: Promise<LoadResult>;
  readonly #order: LoadOrder;
  readonly #lanes: readonly Lane[];
  readonly #done = Promise.withResolvers<LoadResult>();
  readonly #counts: Record<Ending, number> = { completed: 0, cutByClient: 0, cutByUpstream: 0, error: 0 };
  readonly #reasons = new Map<string, number>();
  #latencies = new Float64Array(1 << 16);
  #sent = 0;
  #running = 0;
  #stopping = false;
  #startedAt = 0;
  #deadline = Infinity;
  #endedAt = 0;
  #lateResponses = 0;
  #lastMoveAt = 0;
  #cpu = process.cpuUsage();
  #stallTimer: NodeJS.Timeout | undefined;

  constructor(order: LoadOrder) {
    this.port = order.port;
    this.steps = stepsOf(order);
    this.#order = order;
    this.result = this.#done.promise;
    this.#lanes = Array.from({ length: order.connections }, (_, index) => new Lane(this, index));
    for (const lane of this.#lanes) lane.open(() => this.#opened());
  }

  /** The clock starts when all connections are open. */
  #opened(): void {
    this.#running += 1;
    if (this.#running < this.#lanes.length) return;
    this.#cpu = process.cpuUsage();
    this.#startedAt = this.#lastMoveAt = performance.now();
    if (this.#order.requests === undefined) this.#deadline = this.#startedAt + this.#order.seconds * 1000;
    this.#stallTimer = setInterval(() => this.#lookForStall(), 1000);
    for (const lane of this.#lanes) lane.next();
  }

  over(): boolean {
    return this.#stopping || this.#sent >= (this.#order.requests ?? Infinity) || performance.now() >= this.#deadline;
  }

  started(): void {
    this.#sent += 1;
  }

  ended(ending: Ending, sentAt: number, why: string): void {
    const now = (this.#lastMoveAt = performance.now());
    this.#counts[ending] += 1;
    if (ending === 'error') return this.#note(why);
    if (ending !== 'completed') return;
    if (now > this.#deadline) this.#lateResponses += 1;
    const index = this.#counts.completed - 1;
    if (index === this.#latencies.length) {
      const grown = new Float64Array(index * 2);
      grown.set(this.#latencies);
      this.#latencies = grown;
    }
    this.#latencies[index] = now - sentAt;
  }

  refused(why: string): void {
    this.#note(`no connection: ${why}`);
  }

  #note(why: string): void {
    this.#reasons.set(why, (this.#reasons.get(why) ?? 0) + 1);
    this.#stopping ||= this.#errors() >= TOO_MANY_ERRORS;
  }

  #errors(): number {
    return this.#reasons.values().reduce((sum, count) => sum + count, 0);
  }

  stopped(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    this.#endedAt = performance.now();
    clearInterval(this.#stallTimer);
    this.#done.resolve(this.#summary());
  }

  #lookForStall(): void {
    if (performance.now() - this.#lastMoveAt < STALL_MS) return;
    this.#stopping = true;
    for (const lane of this.#lanes) lane.abandon();
  }

  #summary(): LoadResult {
    const { user, system } = process.cpuUsage(this.#cpu);
    const { completed, cutByClient, cutByUpstream } = this.#counts;
    const sorted = this.#latencies.subarray(0, completed).toSorted();
    const quantile = (share: number) => sorted[Math.min(completed - 1, Math.floor(completed * share))] ?? Number.NaN;
    const seconds = (Math.min(this.#endedAt, this.#deadline) - this.#startedAt) / 1000;
    return {
      sent: this.#sent,
      completed,
      cutByClient,
      cutByUpstream,
      errors: this.#errors(),
      errorSamples: [...this.#reasons].slice(0, 5).map(([why, count]) => `${count} x ${why}`),
      reqPerSec: (completed - this.#lateResponses) / seconds,
      p50Ms: quantile(0.5),
      p99Ms: quantile(0.99),
      clientCpuMicros: (user + system) / Math.max(1, this.#sent),
    };
  }
}
