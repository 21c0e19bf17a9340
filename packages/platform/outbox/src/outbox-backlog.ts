import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { OutboxBacklog } from './outbox-figures.ts';

/** Counting more would cost more than the number is worth. */
export const MAX_BACKLOG_ROWS = 100_000;
const READ_INTERVAL_MS = 15_000;

/** The first row of the index is the oldest one. */
const READ = `SELECT (SELECT count(*) FROM (SELECT FROM outbox WHERE published_at IS NULL LIMIT ${MAX_BACKLOG_ROWS}) AS b) AS rows,
  coalesce((SELECT extract(epoch FROM clock_timestamp() - created_at) * 1000 FROM outbox WHERE published_at IS NULL ORDER BY id LIMIT 1), 0)::float8
    AS age`;

async function readBacklog(pool: PostgresPool): Promise<OutboxBacklog> {
  const [row] = await pool.query<{ rows: number; age: number }>(READ);
  return { rows: row?.rows ?? 0, oldestAgeMs: Math.max(0, row?.age ?? 0) };
}

/** Reads the backlog at an interval. After a failed read it is unknown, not what it was before. */
export class BacklogReader implements AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #onError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #reading: Promise<void>;
  #isReading = false;
  #backlog: OutboxBacklog | undefined;
  #failures = 0;

  constructor(pool: PostgresPool, onError: (error: unknown) => void, intervalMs: number = READ_INTERVAL_MS) {
    this.#pool = pool;
    this.#onError = onError;
    this.#reading = this.#read();
    this.#timer = setInterval(() => {
      if (!this.#isReading) this.#reading = this.#read();
    }, intervalMs);
    this.#timer.unref();
  }

  get backlog(): OutboxBacklog | undefined {
    return this.#backlog;
  }

  get failures(): number {
    return this.#failures;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      this.#backlog = await readBacklog(this.#pool);
    } catch (error) {
      this.#backlog = undefined;
      this.#failures += 1;
      this.#onError(error);
    } finally {
      this.#isReading = false;
    }
  }
}
