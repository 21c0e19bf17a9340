import { processBatch } from '@vitrine/kafka/consume/batch-processor';
import type { ConsumedRecord, RecordHandler } from '@vitrine/kafka/consume/consumed-record';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { setTimeout as wait } from 'node:timers/promises';
import type { OutboxFigures } from './outbox-figures.ts';
import { markPublished, readMessages, type OutboxMessage } from './outbox-message.ts';
import { RelayLoop, type OutboxLogger, type RelayPass } from './relay-loop.ts';

interface InProcessRelayOptions {
  /** The handlers of each topic that otherwise consume from Kafka, in the order in which topics are drained. */
  readonly handlers: ReadonlyMap<string, RecordHandler>;
  readonly logger: OutboxLogger;
  /** Number of messages handled concurrently, each in a separate call. */
  readonly concurrency?: number;
  readonly pollMs?: number;
  readonly backlogIntervalMs?: number;
}

const DEFAULTS = { concurrency: 8, pollMs: 200 };
const AFTER_DEAD_LETTER = 'read the reason; the message is in the outbox with its published_at for 7 days';

/** Delivers outbox messages to consumers in this process, without a broker. A row is marked after its message was handled, so an interrupted message
 *  is handled again. A message that its handler rejects, or fails three times, is logged and marked. Only for databases with one process: two relays
 *  would deliver messages twice. */
export class InProcessRelay implements AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #options: InProcessRelayOptions & typeof DEFAULTS;
  readonly #handling = new Map<number, Promise<void>>();
  readonly #loop: RelayLoop;
  #isUnavailable = false;

  constructor(pool: PostgresPool, options: InProcessRelayOptions) {
    this.#pool = pool;
    this.#options = { ...DEFAULTS, ...options };
    this.#loop = new RelayLoop({ ...this.#options, pool, topics: options.handlers.keys(), pass: () => this.#pass() });
  }

  get figures(): OutboxFigures {
    return this.#loop.figures(this.#handling.size);
  }

  /** Waits for messages that are being handled. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop.stop();
    await Promise.all(this.#handling.values());
    await this.#loop[Symbol.asyncDispose]();
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
    const handled = this.#handle(message).catch((error: unknown) => {
      this.#isUnavailable = true;
      this.#loop.databaseFailed(error);
    });
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
      // A message for the dead letter topic stays in the outbox and is logged.
      deadLetters: { publish: async (records) => records.map(() => 'published') },
      onDeadLetter: ({ errorClass, reason }, attempts) => {
        this.#loop.failures.refused += 1;
        const { id: outbox_id, topic, key } = message;
        const fields = { outbox_id, topic, key, error_class: errorClass, reason, attempts };
        logger.error({ ...fields, next_step: AFTER_DEAD_LETTER }, 'outbox message not processed');
      },
      wait: (ms) => wait(ms),
    });
    // It is read again in a later pass.
    if (obstacle === 'deferred') return;
    if (obstacle !== undefined) {
      this.#loop.failures.unavailable += 1;
      this.#isUnavailable = true;
      return;
    }
    await markPublished(this.#pool, [message.id]);
    this.#loop.addPublished(message.topic);
  }
}

function recordOf({ id, topic, key, payload, created_at }: OutboxMessage): ConsumedRecord {
  const [keyBytes, value] = [Buffer.from(key), Buffer.from(payload)];
  return { topic, partition: 0, offset: String(id), key: keyBytes, value, headers: {}, timestamp: created_at };
}
