import { LogThrottle } from './log-throttle.ts';

const HOUR_MS = 3_600_000;
const NEXT_STEP =
  'compare the clock of the database, or of this machine for SQLite, with the true time; a store that was off catches up by itself: docs/failure-modes.md#retention-that-is-held-back';

/** Rows of one kind removed by retention. Times are milliseconds since the epoch. */
export interface Removed {
  readonly what: string;
  readonly count: number;
  readonly oldest: number;
  readonly newest: number;
}

/** The part of a logger that it needs. */
export interface RetentionLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Log lines of a retention loop: a summary of the removed rows and, once an hour, that its clock is behind the store's. */
export class RetentionLog {
  readonly #logger: RetentionLogger;
  readonly #held: LogThrottle<{ readonly at: number; readonly ranAt: number }>;

  constructor(logger: RetentionLogger) {
    this.#logger = logger;
    this.#held = new LogThrottle(HOUR_MS, ({ at, ranAt }) =>
      logger.warn({ removes_as_of: textOf(at), clock: textOf(ranAt), next_step: NEXT_STEP }, 'retention held back'),
    );
  }

  /** Reports a run whose clock is more than an hour behind. */
  began(run: { readonly at: number; readonly ranAt: number }): void {
    if (run.ranAt - run.at > HOUR_MS) this.#held.add('held', run);
  }

  /** Calls `removeSome` until it removes nothing. Logs a summary of the removed rows, also before a failure, and returns their number. */
  async removeAll(removeSome: () => Promise<readonly Removed[]>): Promise<number> {
    const all: Removed[] = [];
    try {
      for (;;) {
        const removed = await removeSome();
        if (removed.length === 0) return all.reduce((sum, { count }) => sum + count, 0);
        all.push(...removed);
      }
    } finally {
      this.removed(all);
    }
  }

  /** One line for each kind, however many batches it took. */
  removed(all: readonly Removed[]): void {
    for (const [what, batches] of Map.groupBy(all, (one) => one.what)) {
      const count = batches.reduce((sum, batch) => sum + batch.count, 0);
      const oldest = Math.min(...batches.map((batch) => batch.oldest));
      const newest = Math.max(...batches.map((batch) => batch.newest));
      this.#logger.info({ what, count, oldest: textOf(oldest), newest: textOf(newest) }, 'old data removed');
    }
  }
}

function textOf(ms: number): string {
  return new Date(ms).toISOString();
}
