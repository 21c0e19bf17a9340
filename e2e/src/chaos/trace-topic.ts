import { deadLetterTopic } from '@vitrine/kafka/consume/dead-letter';
import { readLag } from '@vitrine/kafka/consume/consumer-lag';
import type { KafkaClient } from '@vitrine/kafka/kafka-client';
import { KafkaPublisher } from '@vitrine/kafka/publish/kafka-publisher';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomUUID } from 'node:crypto';

const READ_TIMEOUT_MS = 120_000;

/** The topic of traces, and the group of its trace-writers. */
export class TraceTopic {
  readonly #client: KafkaClient;
  readonly #topic: string;
  readonly #groupId: string;

  constructor(client: KafkaClient, { topic, groupId }: { readonly topic: string; readonly groupId: string }) {
    this.#client = client;
    this.#topic = topic;
    this.#groupId = groupId;
  }

  /** Records of all partitions that the group has not committed. */
  async lag(): Promise<number> {
    const partitions = [...(await this.#ends(this.#topic)).keys()];
    return readLag(this.#client, { topic: this.#topic, groupId: this.#groupId }, partitions);
  }

  async deadLetters(): Promise<number> {
    return sum(await this.#ends(deadLetterTopic(this.#topic)));
  }

  /** Resets the group to the oldest record. It must have no members. */
  async rewindGroup(): Promise<void> {
    const admin = this.#client.kafka.admin();
    await admin.connect();
    try {
      await admin.resetOffsets({ groupId: this.#groupId, topic: this.#topic, earliest: true });
    } finally {
      await admin.disconnect();
    }
  }

  /** Publishes each record of the topic again. Resolves with their number. */
  async publishAgain(): Promise<number> {
    const ends = await this.#ends(this.#topic);
    await using publisher = new KafkaPublisher(this.#client, { topic: this.#topic });
    await waitUntil(() => publisher.isReady, { what: 'the publisher', timeoutMs: READ_TIMEOUT_MS });
    const consumer = this.#client.kafka.consumer({ groupId: `again-${randomUUID()}` });
    const isCopied = new Set([...ends].filter(([, end]) => end === 0).map(([partition]) => partition));
    let copied = 0;
    await consumer.connect();
    try {
      await consumer.subscribe({ topic: this.#topic, fromBeginning: true });
      await consumer.run({
        eachBatch: async ({ batch: { partition, messages } }) => {
          const end = ends.get(partition) ?? 0;
          const records = messages.filter(({ offset }) => Number(offset) < end);
          const results = await publisher.publish(records.map(({ key, value }) => ({ key: String(key), value })));
          if (results.some((result) => result !== 'published')) throw new Error(`not published again: ${results.join(' ')}`);
          copied += records.length;
          if (Number(messages.at(-1)?.offset ?? 0) >= end - 1) isCopied.add(partition);
        },
      });
      await waitUntil(() => isCopied.size === ends.size, { what: 'all records again', timeoutMs: READ_TIMEOUT_MS });
      return copied;
    } finally {
      await consumer.disconnect();
    }
  }

  /** Partition -> offset behind its last record. No record expires within a run. */
  async #ends(topic: string): Promise<ReadonlyMap<number, number>> {
    const admin = this.#client.kafka.admin();
    await admin.connect();
    try {
      return new Map((await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => [partition, Number(high)]));
    } finally {
      await admin.disconnect();
    }
  }
}

const sum = (ends: ReadonlyMap<number, number>) => [...ends.values()].reduce((total, end) => total + end, 0);
