import { codeOf } from '@vitrine/faults/fault';
import kafkajs, { type Producer } from 'kafkajs';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { findTopic, withDeadline, type KafkaClient } from '../kafka-client.ts';
import { classifyKafkaError, kafkaErrorFields, type KafkaErrorClass } from '../kafka-error.ts';
import type { KafkaRecord } from '../kafka-record.ts';
import type { PublishResult, RecordPublisher } from './publish-result.ts';
import { RecordBatcher, type BatchLimits } from './record-batcher.ts';

export interface PublisherOptions extends Partial<BatchLimits> {
  readonly topic: string;
  readonly compression?: 'zstd' | 'gzip' | 'none';
  /** How long one send may take, with its retries, before its records are `unavailable`. */
  readonly sendTimeoutMs?: number;
  /** How often the topic is looked for while nothing is published. */
  readonly idleLookMs?: number;
}

/** Bytes of a send before compression: a whole batch of the gateway's queue with traces of 4 KB. Fits into a topic of 1 MiB at any compression
 *  ratio, because zstd and gzip add only a few hundred bytes to incompressible data. */
export const MAX_BATCH_BYTES = 1_048_000;
const DEFAULTS: Omit<Required<PublisherOptions>, 'topic'> = {
  maxBatchRecords: 500,
  maxBatchBytes: MAX_BATCH_BYTES,
  lingerMs: 5,
  // Kafka's default of max.message.bytes is 1 MiB, and counts a batch after compression.
  maxRecordBytes: 1_000_000,
  maxPendingBytes: 16_777_216,
  compression: 'zstd',
  sendTimeoutMs: 3_000,
  // Otherwise only the next record would show that a topic was deleted.
  idleLookMs: 30_000,
};
const { ZSTD, GZIP, None } = kafkajs.CompressionTypes;
const COMPRESSION_TYPES = { zstd: ZSTD, gzip: GZIP, none: None };
const RECONNECT_MS = 500;
const DISCONNECT_TIMEOUT_MS = 1_000;
/** kafkajs' own retries of one send: as many as fit into the send's time. A restarted broker of a cluster takes about a second. */
const SEND_RETRY = { retries: 10, initialRetryTime: 100, maxRetryTime: 500 };

interface Session {
  readonly producer: Producer;
  readonly end: () => void;
  /** Sends that were begun. */
  sends: number;
}

/** Publishes to one topic with an idempotent producer and acks of all replicas. Connects by itself, and again after each failure. While it is not
 *  connected, `publish` returns `unavailable` at once. Every failed send replaces the producer, because kafkajs reuses the sequence numbers of
 *  records that the broker may have written, and the broker would discard the next records as duplicates. */
export class KafkaPublisher implements RecordPublisher, AsyncDisposable {
  readonly topic: string;
  readonly #client: KafkaClient;
  readonly #options: Required<PublisherOptions>;
  readonly #batcher: RecordBatcher;
  readonly #closing = new AbortController();
  readonly #connected: Promise<void>;
  #session: Session | undefined;
  #failedBy: KafkaErrorClass | undefined;

  constructor(client: KafkaClient, options: PublisherOptions) {
    this.topic = options.topic;
    this.#client = client;
    this.#options = { ...DEFAULTS, ...options };
    this.#batcher = new RecordBatcher(this.#options, (records) => this.#send(records));
    this.#connected = this.#stayConnected();
  }

  /** Whether a broker was reached and no send has failed since. */
  get isReady(): boolean {
    return this.#session !== undefined;
  }

  /** Why records are `unavailable`: the class of the last failure, until a later connection. */
  get failedBy(): KafkaErrorClass | undefined {
    return this.#failedBy;
  }

  async publish(records: readonly KafkaRecord[]): Promise<readonly PublishResult[]> {
    return this.isReady ? this.#batcher.publish(records) : records.map(() => 'unavailable');
  }

  /** Ends the connection. Call it after all `publish` calls have resolved. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#session?.end();
    await this.#connected;
  }

  async #stayConnected(): Promise<void> {
    const { kafka, log, brokers } = this.#client;
    let isReported = false;
    while (!this.#closing.signal.aborted) {
      const producer = kafka.producer({
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
        retry: SEND_RETRY,
      });
      try {
        // Without a topic each send would wait until its timeout.
        await findTopic(this.#client, this.topic);
        await producer.connect();
        if (isReported) log.info({ topic: this.topic }, 'kafka publisher connected');
        isReported = false;
        this.#failedBy = undefined;
        await this.#useUntilEnd(producer);
      } catch (error) {
        this.#failedBy = classifyKafkaError(error);
        if (!isReported)
          log.warn({ ...kafkaErrorFields(error), brokers, topic: this.topic }, 'kafka publisher cannot connect; retrying');
        isReported = true;
      }
      await withDeadline(producer.disconnect(), DISCONNECT_TIMEOUT_MS).catch(() => {});
      await wait(RECONNECT_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  /** Resolves when a send has failed or the publisher closes. Rejects when the topic of an idle publisher is gone. */
  async #useUntilEnd(producer: Producer): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const ended = new AbortController();
    const session = { producer, end: () => ended.abort(), sends: 0 };
    this.#session = session;
    try {
      for (;;) {
        const { sends } = session;
        await wait(this.#options.idleLookMs, undefined, { signal: ended.signal, ref: false }).catch(() => {});
        if (ended.signal.aborted) return;
        if (session.sends !== sends) continue;
        const look = findTopic(this.#client, this.topic).catch((error: unknown) => error);
        const failure = await Promise.race([look, once(ended.signal, 'abort')]);
        if (ended.signal.aborted) return;
        // Of any other failure the next send decides.
        if (session.sends === sends && failure !== undefined && classifyKafkaError(failure) === 'topic') throw failure;
      }
    } finally {
      this.#session = undefined;
    }
  }

  async #send(records: readonly KafkaRecord[]): Promise<readonly PublishResult[]> {
    const session = this.#session;
    if (session === undefined) return records.map(() => 'unavailable');
    session.sends += 1;
    try {
      const sent = session.producer.send({
        topic: this.topic,
        acks: -1,
        timeout: this.#options.sendTimeoutMs,
        compression: COMPRESSION_TYPES[this.#options.compression],
        messages: [...records],
      });
      await withDeadline(sent, this.#options.sendTimeoutMs);
      return records.map(() => 'published');
    } catch (error) {
      if (this.#session === session) this.#session = undefined;
      session.end();
      if (isTooLarge(error)) return this.#sendHalves(records);
      this.#failedBy = classifyKafkaError(error);
      this.#client.log.warn({ ...kafkaErrorFields(error), topic: this.topic, records: records.length }, 'kafka publish failed');
      return records.map(() => 'unavailable');
    }
  }

  /** The topic's limit may be lower than ours. Halves the batch until the too large record is isolated. */
  async #sendHalves(records: readonly KafkaRecord[]): Promise<readonly PublishResult[]> {
    if (records.length === 1) return ['too_large'];
    const middle = records.length >> 1;
    const results: PublishResult[] = [];
    for (const half of [records.slice(0, middle), records.slice(middle)]) {
      await this.#untilReady();
      results.push(...(await this.#send(half)));
    }
    return results;
  }

  async #untilReady(): Promise<void> {
    const deadline = performance.now() + this.#options.sendTimeoutMs;
    const { signal } = this.#closing;
    while (!this.isReady && !signal.aborted && performance.now() < deadline) await wait(10);
  }
}

function isTooLarge(error: unknown): boolean {
  const type = (error as { type?: unknown } | null)?.type;
  return type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE' || codeOf(error) === 'MESSAGE_TOO_LARGE';
}
