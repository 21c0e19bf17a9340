import { RetentionClock } from '@vitrine/lifecycle/retention-clock';
import { advanceRetention } from '@vitrine/postgres/advance-retention';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { counter } from '@vitrine/telemetry/metrics/instrument';
import { RetentionLog, type Removed } from '@vitrine/telemetry/retention-log';
import { applyStoreRetention, noRowsRemoved, RETAINED_TABLES, STORE_RETENTION } from './store-retention.ts';

const INTERVAL_MS = 600_000;
const AT = 'docs/failure-modes.md#retention-of-the-store-api-that-fails';

export const RETENTION_INSTRUMENTS = {
  removed: counter('svc.retention.removed_total', '{row}', 'Rows that were removed because of their age, by table.', ['table']),
  failures: counter('svc.retention.failures_total', '{failure}', 'Passes of retention that failed.'),
};

/** The part of a logger that retention needs. */
export interface RetentionLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface RetentionTimes {
  readonly intervalMs?: number;
  /** When the database serves: passes begin then. */
  readonly ready?: Promise<void>;
}

/** Applies retention by the clock of the database, at once and every ten minutes; one replica at a time does something. */
export class StoreRetention implements AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #logger: RetentionLogger;
  readonly #clock = new RetentionClock(() => performance.now());
  readonly #log: RetentionLog;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;
  readonly #removed = noRowsRemoved();
  #failures = 0;
  #pass: Promise<void> | undefined;

  constructor(pool: PostgresPool, logger: RetentionLogger, { intervalMs = INTERVAL_MS, ready }: RetentionTimes = {}) {
    this.#pool = pool;
    this.#logger = logger;
    this.#log = new RetentionLog(logger);
    if (ready === undefined) this.#begin(intervalMs);
    else void ready.then(() => this.#begin(intervalMs));
  }

  /** What `RETENTION_INSTRUMENTS` show. */
  readings() {
    return { removed: RETAINED_TABLES.map((table) => [{ table }, this.#removed[table]] as const), failures: this.#failures };
  }

  /** Waits for the pass in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    clearInterval(this.#timer);
    await this.#pass;
  }

  #begin(intervalMs: number): void {
    if (this.#isDisposed) return;
    const start = () => void (this.#pass ??= this.#apply().finally(() => (this.#pass = undefined)));
    this.#timer = setInterval(start, intervalMs);
    this.#timer.unref();
    start();
  }

  async #apply(): Promise<void> {
    const all: Removed[] = [];
    try {
      const run = await advanceRetention(this.#pool, this.#clock, STORE_RETENTION);
      this.#log.began(run);
      const { removed } = (await applyStoreRetention(this.#pool, run.at, { onRemoved: (gone) => void all.push(gone) })) ?? {};
      for (const table of RETAINED_TABLES) this.#removed[table] += removed?.[table] ?? 0;
    } catch (err) {
      this.#failures += 1;
      const fields = databaseErrorFields(err);
      this.#logger.error({ ...fields, next_step: `${fields.next_step}; ${AT}` }, 'store retention failed');
    } finally {
      this.#log.removed(all);
    }
  }
}
