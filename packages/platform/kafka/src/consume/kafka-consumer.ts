import { runShutdownStep } from '@vitrine/lifecycle/shutdown-steps';
import type { Consumer, EachBatchPayload } from 'kafkajs';
import { setTimeout as wait } from 'node:timers/promises';
import { withDeadline, type KafkaClient } from '../kafka-client.ts';
import { kafkaErrorFields } from '../kafka-error.ts';
import type { RecordPublisher } from '../publish/publish-result.ts';
import type { RecordHandler, RejectedRecord } from './consumed-record.ts';
import { readLag } from './consumer-lag.ts';
import { HEARTBEAT_MS, processFetched } from './process-fetched.ts';

export interface ConsumerOptions {
  readonly topic: string;
  readonly groupId: string;
  readonly handle: RecordHandler;
  /** To `deadLetterTopic(topic)`. */
  readonly deadLetters: RecordPublisher;
  /** Checks whether the handler's target is back; called every `probeMs` while the consumer is paused. */
  readonly isAvailable: () => Promise<boolean>;
  readonly maxBatchRecords?: number;
  readonly probeMs?: number;
  readonly lagIntervalMs?: number;
}

/** `connecting` also while it waits for a broker, for the topic, or for its part of the group. */
export type ConsumerStatus = 'connecting' | 'running' | 'paused' | 'stopped';

export interface ConsumerFigures {
  /** Lag in records on the assigned partitions; undefined until it was read. */
  readonly lagRecords: number | undefined;
  readonly assignedPartitions: number;
  readonly records: number;
  readonly deadLetters: number;
  readonly rebalances: number;
  readonly pauses: number;
  /** Sessions that ended in an error, each followed by a new one. */
  readonly restarts: number;
}

const AFTER_LATE_STOP =
  'look at the database and the brokers: uncommitted records are read again: docs/failure-modes.md#rebalances';
const AFTER_DEAD_LETTER = 'read the reason: docs/failure-modes.md#records-in-the-dead-letter-topic';
const AFTER_PAUSE =
  'look at the database, or for dead letters that were not published at their topic; it continues by itself: docs/failure-modes.md#database_unavailable';

/** The figures of a consumer before it has read anything. */
export const NO_CONSUMPTION: ConsumerFigures = {
  lagRecords: undefined,
  assignedPartitions: 0,
  records: 0,
  deadLetters: 0,
  rebalances: 0,
  pauses: 0,
  restarts: 0,
};

type Counters = { -readonly [name in keyof ConsumerFigures]: ConsumerFigures[name] };

const DEFAULTS = {
  maxBatchRecords: 500,
  probeMs: 1_000,
  lagIntervalMs: 5_000,
};
const MAX_BYTES_PER_PARTITION = 1_048_576;
const SESSION_TIMEOUT_MS = 15_000;
const REBALANCE_TIMEOUT_MS = 30_000;
const FETCH_WAIT_MS = 500;
const RESTART_MS = 1_000;
const DISCONNECT_TIMEOUT_MS = 2_000;

/** Consumes one topic in a group: a batch is handled, then its offset committed, so that a record is delivered at least once. Connects by itself
 *  and starts a new session after every error, because kafkajs stops a consumer permanently after some errors. */
export class KafkaConsumer implements AsyncDisposable {
  readonly #client: KafkaClient;
  readonly #options: ConsumerOptions & typeof DEFAULTS;
  readonly #closing = new AbortController();
  readonly #ended: Promise<unknown>;
  readonly #counters: Counters = { ...NO_CONSUMPTION };
  #assigned: readonly number[] = [];
  #status: ConsumerStatus = 'connecting';
  #consumer: Consumer | undefined;

  constructor(client: KafkaClient, options: ConsumerOptions) {
    this.#client = client;
    this.#options = { ...DEFAULTS, ...options };
    this.#ended = Promise.all([this.#stayRunning(), this.#observeLag()]);
  }

  get status(): ConsumerStatus {
    return this.#status;
  }

  get figures(): ConsumerFigures {
    return { ...this.#counters, assignedPartitions: this.#assigned.length };
  }

  /** Waits for the batch in progress, commits it and leaves the group; continues without it after 5 s. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    const { log } = this.#client;
    const { topic } = this.#options;
    const stop = async () => {
      await this.#consumer?.stop();
      await this.#ended;
    };
    await runShutdownStep('stop the consumer', stop, ({ error, ...step }) =>
      log.error({ ...step, err: error, topic, next_step: AFTER_LATE_STOP }, 'kafka consumer did not stop in time'),
    );
    this.#status = 'stopped';
  }

  async #stayRunning(): Promise<void> {
    const { signal } = this.#closing;
    const { topic, groupId } = this.#options;
    let isReported = false;
    while (!signal.aborted) {
      const session = new AbortController();
      const consumer = this.#createConsumer();
      const onJoin = () => {
        if (isReported) this.#client.log.info({ topic, groupId }, 'kafka consumer running again');
        isReported = false;
      };
      try {
        await this.#runSession(consumer, session.signal, onJoin);
      } catch (error) {
        if (!isReported)
          this.#client.log.warn({ ...kafkaErrorFields(error), topic, groupId }, 'kafka consumer stopped; restarting');
        isReported = true;
        this.#counters.restarts += 1;
      }
      session.abort();
      this.#status = 'connecting';
      this.#assigned = [];
      await withDeadline(consumer.disconnect(), DISCONNECT_TIMEOUT_MS).catch(() => {});
      await wait(RESTART_MS, undefined, { signal }).catch(() => {});
    }
  }

  #createConsumer(): Consumer {
    const consumer = this.#client.kafka.consumer({
      groupId: this.#options.groupId,
      sessionTimeout: SESSION_TIMEOUT_MS,
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
      allowAutoTopicCreation: false,
      // This class restarts after errors of every kind.
      retry: { retries: 5, restartOnFailure: () => Promise.resolve(false) },
    });
    this.#consumer = consumer;
    return consumer;
  }

  /** Resolves when the consumer is stopped; rejects with what ended the session. */
  async #runSession(consumer: Consumer, session: AbortSignal, onJoin: () => void): Promise<void> {
    const { topic } = this.#options;
    const { promise: ended, resolve: stopped, reject: crashed } = Promise.withResolvers<void>();
    ended.catch(() => {});
    consumer.on(consumer.events.CRASH, ({ payload }) => crashed(payload.error));
    // A crash stops the consumer before it is reported.
    consumer.on(consumer.events.STOP, () => this.#closing.signal.aborted && stopped());
    consumer.on(consumer.events.REBALANCING, () => void (this.#counters.rebalances += 1));
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      this.#assigned = payload.memberAssignment[topic] ?? [];
      if (this.#status !== 'paused') this.#status = 'running';
      onJoin();
    });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    if (this.#closing.signal.aborted) return;
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => this.#process(payload, consumer, session),
    });
    if (this.#closing.signal.aborted) await consumer.stop();
    await ended;
  }

  async #process(payload: EachBatchPayload, consumer: Consumer, session: AbortSignal): Promise<void> {
    const { handle, deadLetters, maxBatchRecords } = this.#options;
    const obstacle = await processFetched(payload, maxBatchRecords, {
      handle,
      deadLetters,
      wait,
      onDeadLetter: (rejected, attempts) => this.#reportDeadLetter(rejected, attempts),
      onCommit: (records) => void (this.#counters.records += records),
    });
    // Unresolved records are fetched again.
    if (obstacle === undefined || obstacle === 'deferred') return;
    const { partition } = payload.batch;
    const { errorClass: error_class, reason } = obstacle;
    this.#pause({ partition, error_class, reason }, consumer, session);
  }

  #reportDeadLetter({ record, errorClass, reason }: RejectedRecord, attempts: number): void {
    this.#counters.deadLetters += 1;
    const { topic, partition, offset } = record;
    const details = { topic, partition, offset, error_class: errorClass, reason, attempts };
    this.#client.log.error({ ...details, next_step: AFTER_DEAD_LETTER }, 'record sent to the dead letter topic');
  }

  /** Stops fetching until the probe succeeds, and stays in the group, because an error would cause a rebalance. */
  #pause(why: Readonly<Record<string, unknown>>, consumer: Consumer, session: AbortSignal): void {
    const { topic } = this.#options;
    consumer.pause([{ topic }]);
    if (this.#status === 'paused') return;
    this.#status = 'paused';
    this.#counters.pauses += 1;
    this.#client.log.warn({ topic, ...why, next_step: AFTER_PAUSE }, 'kafka consumer paused');
    void this.#resumeWhenAvailable(consumer, session);
  }

  async #resumeWhenAvailable(consumer: Consumer, session: AbortSignal): Promise<void> {
    const { topic, probeMs, isAvailable } = this.#options;
    for (;;) {
      await wait(probeMs, undefined, { signal: session }).catch(() => {});
      if (session.aborted || this.#closing.signal.aborted) return;
      if (!(await isAvailable().catch(() => false))) continue;
      if (session.aborted || this.#closing.signal.aborted) return;
      this.#status = 'running';
      consumer.resume([{ topic }]);
      this.#client.log.info({ topic }, 'kafka consumer resumed');
      return;
    }
  }

  async #observeLag(): Promise<void> {
    const { topic, groupId, lagIntervalMs } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await wait(lagIntervalMs, undefined, { signal }).catch(() => {});
      if (this.#assigned.length === 0 || signal.aborted) continue;
      try {
        this.#counters.lagRecords = await readLag(this.#client, { topic, groupId }, this.#assigned);
      } catch (error) {
        this.#client.log.debug({ err: error, topic }, 'reading consumer lag failed');
      }
    }
  }
}
