import { waitUntil } from '@vitrine/testkit/wait-until';
import kafkajs, { type Admin } from 'kafkajs';
import { randomUUID } from 'node:crypto';
import { ensureTopics, type TopicSettings } from '../ensure-topics.ts';
import { createKafkaClient } from '../kafka-client.ts';
import { collectLog } from './collect-log.ts';

interface Broker {
  readonly brokers: readonly string[];
}

export interface ReadRecord {
  readonly key: string;
  readonly value: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULTS = { partitions: 1, replicationFactor: 1, retentionMs: 3_600_000, maxMessageBytes: 1_048_576 };

/** Creates a topic, by default unique to the test, and its dead letter topic. Returns its name. */
export async function createTopic({ brokers }: Broker, settings: Partial<TopicSettings>): Promise<string> {
  const topic = settings.topic ?? `test-${randomUUID()}`;
  const client = createKafkaClient({ clientId: 'test-topics', brokers }, collectLog());
  await ensureTopics(client, [
    { ...DEFAULTS, ...settings, topic },
    { ...DEFAULTS, topic: `${topic}.dlq` },
  ]);
  return topic;
}

/** Reads all records of a topic, and waits until it has `count`, because a topic may contain more records than acknowledged. */
export async function readTopic({ brokers }: Broker, topic: string, count: number): Promise<readonly ReadRecord[]> {
  const { kafka } = createKafkaClient({ clientId: 'test-reader', brokers }, collectLog());
  const admin = kafka.admin();
  const consumer = kafka.consumer({ groupId: `read-${randomUUID()}` });
  const records: ReadRecord[] = [];
  await Promise.all([admin.connect(), consumer.connect()]);
  try {
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message: { key, value, headers = {} } }) => {
        const texts = Object.entries(headers).map(([name, header]) => [name, String(header)] as const);
        records.push({ key: String(key), value: value?.toString(), headers: Object.fromEntries(texts) });
      },
    });
    const isRead = async () => {
      const ends = (await admin.fetchTopicOffsets(topic)).map(({ high }) => Number(high));
      return (
        records.length >=
        Math.max(
          count,
          ends.reduce((sum, end) => sum + end, 0),
        )
      );
    };
    await waitUntil(isRead, { what: `${count} records of ${topic}`, timeoutMs: 120_000 });
    return records;
  } finally {
    await Promise.all([admin.disconnect(), consumer.disconnect()]);
  }
}

/** Changes settings of a topic, such as `max.message.bytes`. */
export async function alterTopic({ brokers }: Broker, topic: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
  const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configEntries };
  await withAdmin(brokers, (admin) => admin.alterConfigs({ validateOnly: false, resources: [resource] }));
}

/** Deletes a topic. Resolves when the broker no longer lists it. */
export async function deleteTopic({ brokers }: Broker, topic: string): Promise<void> {
  await withAdmin(brokers, async (admin) => {
    await admin.deleteTopics({ topics: [topic] });
    await waitUntil(async () => !(await admin.listTopics()).includes(topic), { what: `the end of ${topic}` });
  });
}

/** Waits until the broker lists a topic. */
export async function untilTopic({ brokers }: Broker, topic: string): Promise<void> {
  await withAdmin(brokers, async (admin) => {
    await waitUntil(async () => (await admin.listTopics()).includes(topic), { what: topic });
  });
}

async function withAdmin<T>(brokers: readonly string[], use: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = createKafkaClient({ clientId: 'test-topics', brokers }, collectLog()).kafka.admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}
