import type { RecordPublisher } from '@vitrine/kafka/publish/publish-result';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { BacklogReader } from './outbox-backlog.ts';
import { OutboxCounters, type OutboxFigures } from './outbox-figures.ts';
import { lockMessages, markPublished, type OutboxMessage } from './outbox-message.ts';
import { failureLog, runRelay, type OutboxLogger, type RelayPass } from './relay-loop.ts';

export interface OutboxRelayOptions {
  /** Of each topic, in the order in which topics are drained. Messages of other topics stay. */
  readonly publishers: ReadonlyMap<string, RecordPublisher>;
  readonly logger: OutboxLogger;
  /** Messages of one transaction. */
  readonly batch?: number;
  readonly pollMs?: number;
  readonly backlogIntervalMs?: number;
}

const DEFAULTS = { batch: 500, pollMs: 500 };
/** Messages that a topic refused are passed over until the process ends; beyond this number the relay stops at them. */
const MAX_REFUSED = 1_000;
const AFTER_REFUSAL =
  'raise max.message.bytes of the topic and restart the service, or remove the row of the outbox: docs/failure-modes.md#outbox-messages-that-are-not-published';

/** Publishes the messages of the outbox in batches. A row is marked in the transaction that has locked it, after the broker has acknowledged
 *  it: when broker, database or process fail in between, it is published again, so consumers see a message at least once. Any number of relays
 *  may run beside each other; they keep the order of a key. */
export class OutboxRelay implements AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #options: OutboxRelayOptions & typeof DEFAULTS;
  readonly #counters: OutboxCounters;
  readonly #refused = new Set<number>();
  readonly #stopping = new AbortController();
  readonly #failures: ReturnType<typeof failureLog>;
  readonly #backlog: BacklogReader;
  readonly #ended: Promise<void>;
  #inFlight = 0;

  constructor(pool: PostgresPool, options: OutboxRelayOptions) {
    this.#pool = pool;
    this.#options = { ...DEFAULTS, ...options };
    this.#counters = new OutboxCounters([...options.publishers.keys()]);
    this.#failures = failureLog(options.logger);
    const onReadError = (err: unknown) => this.#failures.add('backlog', { err, message: 'outbox backlog not read' });
    this.#backlog = new BacklogReader(pool, onReadError, options.backlogIntervalMs);
    this.#ended = runRelay({
      pass: () => this.#pass(),
      onError: (err) => {
        this.#counters.failures.database += 1;
        this.#failures.add('relay', { err, message: 'outbox relay failed; retrying' });
      },
      pollMs: this.#options.pollMs,
      signal: this.#stopping.signal,
    });
  }

  get figures(): OutboxFigures {
    const { published, failures } = this.#counters;
    const { backlog, failures: backlogReadFailures } = this.#backlog;
    return { published: new Map(published), failures: { ...failures }, inFlight: this.#inFlight, backlog, backlogReadFailures };
  }

  /** Waits for the batch in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
    await this.#backlog[Symbol.asyncDispose]();
    this.#failures[Symbol.dispose]();
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
      for (const { topic } of published) this.#counters.addPublished(topic);
      // Others of these keys may be next, so also a batch that is not full is followed by another.
      return published.length > 0 ? 'more' : 'unavailable';
    });
  }

  /** The messages that their topics have. */
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
    if (results.some((result) => result !== 'published' && result !== 'too_large')) this.#counters.failures.unavailable += 1;
    return published;
  }

  #refuse({ id, topic, key, payload }: OutboxMessage): void {
    this.#counters.failures.refused += 1;
    if (this.#refused.size < MAX_REFUSED) this.#refused.add(id);
    const fields = { outbox_id: id, topic, key, payload_bytes: payload.length, next_step: AFTER_REFUSAL };
    this.#options.logger.error(fields, 'outbox message refused by its topic');
  }
}
