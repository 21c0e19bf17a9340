import { messageOf } from '@vitrine/faults/fault';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { DatabaseReadiness, waitForDatabase } from '@vitrine/postgres/wait-for-database';
import type { Logger } from '@vitrine/telemetry/logger';
import { setTimeout as wait } from 'node:timers/promises';

const PROBE_INTERVAL_MS = 5_000;

/** Knows whether the database serves this service. It is asked every 5 s, over a connection of its own: requests that wait for
 *  theirs say nothing of the database. */
export class DatabaseProbe implements AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #logger: Logger;
  readonly #readiness = new DatabaseReadiness();
  readonly #stopping = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  readonly #running: Promise<void>;

  constructor(pool: PostgresPool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
    this.#running = this.#run();
  }

  /** Why requests cannot be served; undefined when they can. */
  get reason(): string | undefined {
    return this.#readiness.reason;
  }

  /** At any time since the start. */
  get hasReachedDatabase(): boolean {
    return this.#readiness.wasReached;
  }

  /** Resolves when the database serves for the first time, which may be never. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const options = { logger: this.#logger, signal, readiness: this.#readiness, probe, isAwaited: () => true };
    while (!signal.aborted) {
      await waitForDatabase(this.#pool, options);
      if (this.#readiness.reason === undefined) this.#ready.resolve();
      while (!signal.aborted && this.#readiness.reason === undefined) {
        await wait(PROBE_INTERVAL_MS, undefined, { signal }).catch(() => {});
        if (!signal.aborted) await this.#check();
      }
    }
  }

  async #check(): Promise<void> {
    try {
      await probe(this.#pool);
    } catch (err) {
      this.#readiness.reason = `waiting for the database: ${messageOf(err)}`;
      this.#logger.warn({ ...databaseErrorFields(err) }, 'database lost');
    }
  }
}

/** What every request needs of the tables and of the role's rights; it changes nothing. */
async function probe(pool: PostgresPool): Promise<void> {
  await pool.query('SELECT FROM request_leases, api_keys, stores, idempotency_keys LIMIT 0');
}
