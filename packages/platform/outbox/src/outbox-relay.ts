import type { RecordPublisher } from '@vitrine/kafka/publish/publish-result';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { OutboxFigures } from './outbox-figures.ts';
import { lockMessages, markPublished, type OutboxMessage } from './outbox-message.ts';
import { RelayLoop, type OutboxLogger, type RelayPass } from './relay-loop.ts';

export interface OutboxRelayOptions {
  /** The publisher of each topic, in the order in which topics are drained. Messages of other topics stay. */
  readonly publishers: ReadonlyMap<string, RecordPublisher>;
  readonly logger: OutboxLogger;
  /** Maximum messages of one transaction. */
  readonly batch?: number;
  readonly pollMs?: number;
  readonly backlogIntervalMs?: number;
}

const DEFAULTS = { batch: 500, pollMs: 500 };
/** Refused messages are skipped until the process ends. Beyond this number the relay stops at them. */
const MAX_REFUSED = 1_000;
const AFTER_REFUSAL =
  'raise max.message.bytes of the topic and restart the service, or remove the row of the outbox: docs/failure-modes.md#outbox-messages-that-are-not-published';

/** Publishes outbox messages in batches. A row is marked in the transaction that locked it, after the broker acknowledged the message. After a
 *  failure in between it is published again, so consumers get a message at least once. Relays can run in parallel and keep the order of a key. */
export class OutboxRelay implements AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #options: OutboxRelayOptions & typeof DEFAULTS;
  readonly #refused = new Set<number>();
  readonly #loop: RelayLoop;
  #inFlight = 0;

  constructor(pool: PostgresPool, options: OutboxRelayOptions) {
    this.#pool = pool;
    this.#options = { ...DEFAULTS, ...options };
    this.#loop = new RelayLoop({ ...this.#options, pool, topics: options.publishers.keys(), pass: () => this.#pass() });
  }

  get figures(): OutboxFigures {
    return this.#loop.figures(this.#inFlight);
  }

  /** Waits for the batch in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  #pass(): Promise<RelayPass> {
    const { publishers, batch: limit } = this.#options;
    return this.#pool.transaction(async (transaction) => {
      const messages = await lockMessages(transaction, { topics: [...publishers.keys()], except: [...this.#refused], limit });
      if (messages.length === 0) return 'idle';
      const published = await this.#publish(messages);
      await markPublished(
        transaction,
        published.map(({ id }) => id),
      );
      for (const { topic } of published) this.#loop.addPublished(topic);
      // Further messages of these keys may be next, so even a partial batch is followed by another.
      return published.length > 0 ? 'more' : 'unavailable';
    });
  }

  /** The messages stored in their topics. */
  async #publish(messages: readonly OutboxMessage[]): Promise<OutboxMessage[]> {
    this.#inFlight = messages.length;
    try {
      const byTopic = [...Map.groupBy(messages, ({ topic }) => topic)];
      return (await Promise.all(byTopic.map(([topic, group]) => this.#publishTo(topic, group)))).flat();
    } finally {
      this.#inFlight = 0;
    }
  }

  async #publishTo(topic: string, messages: readonly OutboxMessage[]): Promise<OutboxMessage[]> {
    const records = messages.map(({ key, payload }) => ({ key, value: Buffer.from(payload) }));
    const results = (await this.#options.publishers.get(topic)?.publish(records)) ?? [];
    for (const [at, message] of messages.entries()) if (results[at] === 'too_large') this.#refuse(message);
    const published = messages.filter((_, at) => results[at] === 'published');
    if (results.some((result) => result !== 'published' && result !== 'too_large')) this.#loop.failures.unavailable += 1;
    return published;
  }

  #refuse({ id, topic, key, payload }: OutboxMessage): void {
    this.#loop.failures.refused += 1;
    if (this.#refused.size < MAX_REFUSED) this.#refused.add(id);
    const fields = { outbox_id: id, topic, key, payload_bytes: payload.length, next_step: AFTER_REFUSAL };
    this.#options.logger.error(fields, 'outbox message refused by its topic');
  }
}
