import { databaseErrorFields } from './database-error-fields.ts';
import type { PostgresPool } from './postgres-pool.ts';

/** Two clocks that are set by NTP drift apart by less than a millisecond in this time. */
const READ_INTERVAL_MS = 60_000;
/** A process whose clock differs by more is reported. */
const TOLERATED_MS = 30_000;

interface DatabaseClockOptions {
  readonly logger: { warn(fields: Readonly<Record<string, unknown>>, message: string): void };
  readonly processClock?: () => number;
  /** Milliseconds on a clock that does not jump. */
  readonly steadyClock?: () => number;
}

/** The clock of the database without a query for each reading: read every 60 s, and advanced by the steady clock in between. With it, processes on
 *  several machines agree on days and expiry, even if a machine's clock is wrong. Until the first reading it is the clock of the process. */
export class DatabaseClock implements Disposable {
  readonly #pool: PostgresPool;
  readonly #options: Required<DatabaseClockOptions>;
  /** Offset of the database's clock from the steady one. */
  #aheadMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReported = false;

  constructor(pool: PostgresPool, options: DatabaseClockOptions) {
    this.#pool = pool;
    this.#options = { processClock: Date.now, steadyClock: () => performance.now(), ...options };
  }

  /** Milliseconds since the epoch. */
  readonly now = (): number =>
    this.#aheadMs === undefined ? this.#options.processClock() : Math.floor(this.#options.steadyClock() + this.#aheadMs);

  /** Rejects with the driver's error and keeps the previous reading. */
  async read(): Promise<void> {
    const before = this.#options.steadyClock();
    const [row] = await this.#pool.query<{ now: number }>('SELECT clock_timestamp() AS now');
    const after = this.#options.steadyClock();
    if (row === undefined) return;
    this.#aheadMs = row.now - (before + after) / 2;
    this.#reportDifference();
  }

  /** Reads it now and every 60 s, until disposal. */
  keepReading(): this {
    const read = () =>
      void this.read().catch((error: unknown) =>
        this.#options.logger.warn({ ...databaseErrorFields(error) }, "reading the database's clock failed"),
      );
    this.#timer = setInterval(read, READ_INTERVAL_MS).unref();
    read();
    return this;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #reportDifference(): void {
    const ahead_ms = Math.round(this.#options.processClock() - this.now());
    const differs = Math.abs(ahead_ms) > TOLERATED_MS;
    if (differs && !this.#isReported) {
      const next_step =
        "set the clock of this machine (NTP); until then the database's is used: docs/failure-modes.md#the-wall-clock-is-set";
      this.#options.logger.warn({ ahead_ms, next_step }, "the clock of this process differs from the database's");
    }
    this.#isReported = differs;
  }
}
