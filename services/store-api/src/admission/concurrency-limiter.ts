import { Fault } from '@vitrine/faults/fault';

interface ConcurrencyBounds {
  /** Its name in faults and metrics. */
  readonly bound: string;
  /** Concurrent callers of each group. */
  readonly limit: number;
  /** Maximum waiting callers of a group. Further ones fail at once. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

interface Group {
  running: number;
  readonly waiting: Set<Waiting>;
}

interface Waiting {
  readonly start: () => void;
  readonly timer: NodeJS.Timeout;
}

/** At most `limit` callers of each group at a time. Others wait in their order, within bounds. Keeps no state of unused groups. */
export class ConcurrencyLimiter {
  readonly bounds: ConcurrencyBounds;
  readonly #groups = new Map<string, Group>();

  constructor(bounds: ConcurrencyBounds) {
    this.bounds = bounds;
  }

  /** Running callers of the busiest group. */
  get mostRunning(): number {
    return this.#groups.values().reduce((most, { running }) => Math.max(most, running), 0);
  }

  /** Waiting callers of all groups. */
  get waiting(): number {
    return this.#groups.values().reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /** Resolves with a function that ends the call. Call it once. Faults: `overloaded`. */
  acquire(name: string): Promise<() => void> {
    const group = this.#groups.get(name) ?? { running: 0, waiting: new Set() };
    this.#groups.set(name, group);
    const { bound, limit, maxWaiting, maxWaitMs } = this.bounds;
    const release = () => this.#release(name, group);
    if (group.running < limit) {
      group.running += 1;
      return Promise.resolve(release);
    }
    if (group.waiting.size >= maxWaiting) return Promise.reject(overloaded(bound));
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const timer = setTimeout(() => {
      group.waiting.delete(waiting);
      reject(overloaded(bound));
    }, maxWaitMs);
    const waiting = { start: () => resolve(release), timer };
    group.waiting.add(waiting);
    return promise;
  }

  /** Faults: `overloaded`, and those of `work`. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(name);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Passes the slot to the caller that has waited longest. */
  #release(name: string, group: Group): void {
    const [next] = group.waiting;
    if (next === undefined) {
      group.running -= 1;
      if (group.running === 0) this.#groups.delete(name);
      return;
    }
    group.waiting.delete(next);
    clearTimeout(next.timer);
    next.start();
  }
}

/** Thrown when the service is overloaded; `bound` names the limit. */
export function overloaded(bound: string): Fault {
  return new Fault('overloaded', { say: 'The service is overloaded; retry after a second.', log: { bound } });
}
