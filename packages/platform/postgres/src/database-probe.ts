import { setTimeout as wait } from 'node:timers/promises';
import { databaseErrorFields } from './database-error-fields.ts';
import type { PostgresPool } from './postgres-pool.ts';
import { waitForDatabase, waitingReason, type WaitLogger } from './wait-for-database.ts';

const PROBE_INTERVAL_MS = 5_000;
/** A database that does not respond within this time counts as unavailable, although the driver still waits for it. */
const RESPONSE_MS = 5_000;

interface DatabaseProbeOptions {
  readonly logger: WaitLogger;
  /** Checks what the service needs from the database. Rejects if that fails. */
  readonly probe: (pool: PostgresPool) => Promise<unknown>;
}

/** Reports whether the database serves a service. Once started, it runs the probe every 5 s. */
export class DatabaseProbe implements AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #options: DatabaseProbeOptions;
  readonly #stopping = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  #reason: string | undefined = 'not connected to the database yet';
  #hasReachedDatabase = false;
  /** When the probe in progress was started. */
  #sentAt: number | undefined;
  #running: Promise<void> | undefined;

  constructor(pool: PostgresPool, options: DatabaseProbeOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** Why the service cannot use the database; undefined when it can. */
  get reason(): string | undefined {
    const waitedMs = this.#sentAt === undefined ? 0 : performance.now() - this.#sentAt;
    const silence = waitedMs > RESPONSE_MS ? `no response from the database for ${Math.round(waitedMs / 1_000)} s` : undefined;
    return this.#reason ?? silence;
  }

  /** Whether the database responded at any time since the start. */
  get hasReachedDatabase(): boolean {
    return this.#hasReachedDatabase;
  }

  /** Resolves when the database is usable for the first time, which may be never. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    // Also waits for tables and rights that a migration still has to create.
    const onAttempt = (reason: string | undefined) => {
      this.#reason = reason;
      this.#hasReachedDatabase ||= reason === undefined;
    };
    const options = { ...this.#options, signal, onAttempt, isAwaited: () => true };
    while (!signal.aborted) {
      if (await waitForDatabase(this.#pool, options)) this.#ready.resolve();
      while (!signal.aborted && this.#reason === undefined) {
        await wait(PROBE_INTERVAL_MS, undefined, { signal }).catch(() => {});
        if (!signal.aborted) await this.#check();
      }
    }
  }

  async #check(): Promise<void> {
    const { logger, probe } = this.#options;
    const sentAt = performance.now();
    this.#sentAt = sentAt;
    try {
      await probe(this.#pool);
    } catch (err) {
      this.#reason = waitingReason(err);
      const waited_ms = Math.round(performance.now() - sentAt);
      logger.warn({ ...this.#pool.address, waited_ms, ...databaseErrorFields(err) }, 'database lost');
    } finally {
      this.#sentAt = undefined;
    }
  }
}
