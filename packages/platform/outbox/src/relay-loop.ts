import { backoffMs } from '@vitrine/postgres/backoff';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import { setTimeout as wait } from 'node:timers/promises';
import type { OutboxBacklog, OutboxFigures } from './outbox-figures.ts';
import { readBacklog } from './outbox-message.ts';

const BACKOFF = { firstMs: 100, maxMs: 5_000 };
const LOG_INTERVAL_MS = 10_000;
const BACKLOG_INTERVAL_MS = 15_000;

/** The part of a logger used by relays. */
export interface OutboxLogger {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** `more`: continue at once; `idle`: the outbox is empty; `unavailable`: try again later. */
export type RelayPass = 'more' | 'idle' | 'unavailable';

interface RelayLoopOptions {
  readonly pool: PostgresPool;
  readonly topics: Iterable<string>;
  readonly logger: OutboxLogger;
  readonly pass: () => Promise<RelayPass>;
  /** How long an idle relay waits before the next pass. */
  readonly pollMs: number;
  readonly backlogIntervalMs?: number | undefined;
}

/** Runs passes one after the other. Waits up to 5 s after a failure. Reads the backlog at an interval. Logs one line per kind of failure
 *  in 10 s. */
export class RelayLoop implements AsyncDisposable {
  readonly failures = { unavailable: 0, refused: 0, database: 0 };
  readonly #options: RelayLoopOptions;
  readonly #published: Map<string, number>;
  readonly #failureLog: LogThrottle<{ readonly err: unknown; readonly message: string }>;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<unknown>;
  /** Unknown before the first read and after a failed one. */
  #backlog: OutboxBacklog | undefined;
  #backlogReadFailures = 0;

  constructor(options: RelayLoopOptions) {
    this.#options = options;
    this.#published = new Map([...options.topics].map((topic) => [topic, 0]));
    this.#failureLog = new LogThrottle(LOG_INTERVAL_MS, ({ err, message }, failures) =>
      options.logger.warn({ ...databaseErrorFields(err), failures }, message),
    );
    this.#ended = Promise.all([this.#run(), this.#keepReadingBacklog()]);
  }

  /** `inFlight`: messages that are being published. */
  figures(inFlight: number): OutboxFigures {
    const [backlog, backlogReadFailures] = [this.#backlog, this.#backlogReadFailures];
    return { published: new Map(this.#published), failures: { ...this.failures }, inFlight, backlog, backlogReadFailures };
  }

  addPublished(topic: string): void {
    this.#published.set(topic, (this.#published.get(topic) ?? 0) + 1);
  }

  databaseFailed(err: unknown): void {
    this.failures.database += 1;
    this.#failureLog.add('relay', { err, message: 'outbox relay failed; retrying' });
  }

  /** Waits for the pass in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#failureLog[Symbol.dispose]();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      const result = await this.#pass();
      failures = result === 'unavailable' ? failures + 1 : 0;
      if (result === 'more') continue;
      const pauseMs = result === 'idle' ? this.#options.pollMs : backoffMs(failures - 1, BACKOFF, Math.random());
      await wait(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async #pass(): Promise<RelayPass> {
    try {
      return await this.#options.pass();
    } catch (error) {
      this.databaseFailed(error);
      return 'unavailable';
    }
  }

  async #keepReadingBacklog(): Promise<void> {
    const { pool, backlogIntervalMs = BACKLOG_INTERVAL_MS } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        this.#backlog = await readBacklog(pool);
      } catch (err) {
        this.#backlog = undefined;
        this.#backlogReadFailures += 1;
        this.#failureLog.add('backlog', { err, message: 'outbox backlog not read' });
      }
      await wait(backlogIntervalMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
