import { processBatch } from '@vitrine/kafka/consume/batch-processor';
import type { ConsumedRecord, RecordHandler } from '@vitrine/kafka/consume/consumed-record';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { setTimeout as wait } from 'node:timers/promises';
import { BacklogReader } from './outbox-backlog.ts';
import { OutboxCounters, type OutboxFigures } from './outbox-figures.ts';
import { markPublished, readMessages, type OutboxMessage } from './outbox-message.ts';
import { failureLog, runRelay, type OutboxLogger, type RelayPass } from './relay-loop.ts';

interface InProcessRelayOptions {
  /** Of each topic, in the order in which topics are drained: the handlers that otherwise consume from Kafka. */
  readonly handlers: ReadonlyMap<string, RecordHandler>;
  readonly logger: OutboxLogger;
  /** Messages that are handled at once, each by a call of its own. */
  readonly concurrency?: number;
  readonly pollMs?: number;
  readonly backlogIntervalMs?: number;
}

const DEFAULTS = { concurrency: 8, pollMs: 200 };
const AFTER_DEAD_LETTER = 'read the reason; the message is in the outbox with its published_at for 7 days';

/** Hands the messages of the outbox to consumers in this process, where there is no broker. A row is marked after its message was handled, so
 *  that one which the end of the process interrupted is handled again. A message that its handler rejects, or fails at three times, is logged
 *  and marked. For databases that only one process uses: relays of two processes would hand out messages twice. */
export class InProcessRelay implements AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #options: InProcessRelayOptions & typeof DEFAULTS;
  readonly #counters: OutboxCounters;
  readonly #handling = new Map<number, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #failures: ReturnType<typeof failureLog>;
  readonly #backlog: BacklogReader;
  readonly #ended: Promise<void>;
  #isUnavailable = false;

  constructor(pool: PostgresPool, options: InProcessRelayOptions) {
    this.#pool = pool;
    this.#options = { ...DEFAULTS, ...options };
    this.#counters = new OutboxCounters([...options.handlers.keys()]);
    this.#failures = failureLog(options.logger);
    const onReadError = (err: unknown) => this.#failures.add('backlog', { err, message: 'outbox backlog not read' });
    this.#backlog = new BacklogReader(pool, onReadError, options.backlogIntervalMs);
    this.#ended = runRelay({
      pass: () => this.#pass(),
      onError: (err) => this.#databaseFailed(err),
      pollMs: this.#options.pollMs,
      signal: this.#stopping.signal,
    });
  }

  get figures(): OutboxFigures {
    const { published, failures } = this.#counters;
    const { backlog, failures: backlogReadFailures } = this.#backlog;
    const inFlight = this.#handling.size;
    return { published: new Map(published), failures: { ...failures }, inFlight, backlog, backlogReadFailures };
  }

  /** Hands out no more, and waits for what is being handled. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
    await Promise.all(this.#handling.values());
    await this.#backlog[Symbol.asyncDispose]();
    this.#failures[Symbol.dispose]();
  }

  async #pass(): Promise<RelayPass> {
    const { handlers, concurrency } = this.#options;
    const room = concurrency - this.#handling.size;
    if (room > 0) {
      const query = { topics: [...handlers.keys()], except: [...this.#handling.keys()], limit: room };
      for (const message of await readMessages(this.#pool, query)) this.#start(message);
    }
    if (this.#isUnavailable) {
      this.#isUnavailable = false;
      return 'unavailable';
    }
    if (this.#handling.size < concurrency) return 'idle';
    await Promise.race(this.#handling.values());
    return 'more';
  }

  #start(message: OutboxMessage): void {
    const handled = this.#handle(message).catch((error: unknown) => this.#databaseFailed(error));
    this.#handling.set(
      message.id,
      handled.finally(() => this.#handling.delete(message.id)),
    );
  }

  async #handle(message: OutboxMessage): Promise<void> {
    const { handlers, logger } = this.#options;
    const handle = handlers.get(message.topic);
    if (handle === undefined) return;
    const obstacle = await processBatch([recordOf(message)], {
      handle,
      // What would go to the dead letter topic stays in the outbox, and in the log.
      deadLetters: { publish: async (records) => records.map(() => 'published') },
      onDeadLetter: ({ errorClass, reason }, attempts) => {
        this.#counters.failures.refused += 1;
        const fields = {
          outbox_id: message.id,
          topic: message.topic,
          key: message.key,
          error_class: errorClass,
          reason,
          attempts,
        };
        logger.error({ ...fields, next_step: AFTER_DEAD_LETTER }, 'outbox message not processed');
      },
      wait: (ms) => wait(ms),
    });
    // It is read again in a later pass.
    if (obstacle === 'deferred') return;
    if (obstacle !== undefined) {
      this.#counters.failures.unavailable += 1;
      this.#isUnavailable = true;
      return;
    }
    await markPublished(this.#pool, [message.id]);
    this.#counters.addPublished(message.topic);
  }

  #databaseFailed(err: unknown): void {
    this.#counters.failures.database += 1;
    this.#isUnavailable = true;
    this.#failures.add('relay', { err, message: 'outbox relay failed; retrying' });
  }
}

function recordOf({ id, topic, key, payload, created_at }: OutboxMessage): ConsumedRecord {
  const [keyBytes, value] = [Buffer.from(key), Buffer.from(payload)];
  return { topic, partition: 0, offset: String(id), key: keyBytes, value, headers: {}, timestamp: created_at };
}
