import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startKafka, type RunningKafka } from '@vitrine/e2e/environment';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { ConsumedRecord } from './consume/consumed-record.ts';
import { KafkaConsumer } from './consume/kafka-consumer.ts';
import { createKafkaClient } from './kafka-client.ts';
import { KafkaPublisher } from './publish/kafka-publisher.ts';
import { DiskSpool } from './spool/disk-spool.ts';
import { SpoolingPublisher } from './spooling-publisher.ts';
import { collectLog } from './testing/collect-log.ts';
import { createTopic, deleteTopic, readTopic } from './testing/topics.ts';

const RESTART_TEST_TIMEOUT_MS = 180_000;
const START_TIMEOUT_MS = 180_000;

await describeWithContainers('a spool before Kafka 4.1', () => {
  let kafka: RunningKafka;
  beforeAll(async () => {
    kafka = await startKafka();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await kafka[Symbol.asyncDispose]();
  });

  test(
    'every record that was written while the broker stopped and started again is in the topic',
    async () => {
      await using folder = await temporaryFolder('spool');
      const topic = await createTopic(kafka, { partitions: 3 });
      const log = collectLog();
      await using publisher = new KafkaPublisher(createKafkaClient({ clientId: 'test', brokers: kafka.brokers }, log), { topic });
      await waitUntil(() => publisher.isReady, { what: 'the publisher', timeoutMs: 60_000 });
      await using spooling = new SpoolingPublisher(publisher, await DiskSpool.open({ path: folder.path, maxBytes: 1e8 }), log);

      const results: string[] = [];
      const write = async () => {
        const records = Array.from({ length: 20 }, (_, at) => ({
          key: `k${results.length + at}`,
          value: Buffer.alloc(2_000, 'x'),
        }));
        results.push(...(await spooling.write(records)));
      };
      await write();
      const stopped = kafka.stop();
      await waitUntil(async () => (await write(), results.includes('spooled')), {
        what: 'records in the spool',
        timeoutMs: 60_000,
      });
      await stopped;
      for (let batch = 0; batch < 50; batch += 1) await write();
      await kafka.restart();
      await waitUntil(async () => (await write(), spooling.figures.spooledRecords === 0), {
        what: 'the spool to drain',
        timeoutMs: 90_000,
      });
      await write();
      expect(new Set(results)).toEqual(new Set(['published', 'spooled']));
      expect(results.at(-1)).toBe('published');
      const read = await readTopic(kafka, topic, results.length);
      expect(new Set(read.map(({ key }) => key)).size).toBe(results.length);
      expect(log.messages('error')).toEqual([]);
    },
    RESTART_TEST_TIMEOUT_MS,
  );

  test(
    'records that are written while their topic is missing wait in the spool, and are consumed when it is there again',
    async () => {
      await using folder = await temporaryFolder('spool');
      const topic = await createTopic(kafka, {});
      const log = collectLog();
      const client = createKafkaClient({ clientId: 'test', brokers: kafka.brokers }, log);
      await using publisher = new KafkaPublisher(client, { topic });
      await using deadLetters = new KafkaPublisher(client, { topic: `${topic}.dlq` });
      const consumed = new Set<string>();
      const handle = async (records: readonly ConsumedRecord[]) => {
        for (const { key } of records) consumed.add(String(key));
        return { status: 'done' } as const;
      };
      const group = { topic, groupId: `group of ${topic}`, deadLetters, isAvailable: () => Promise.resolve(true) };
      await using _consumer = new KafkaConsumer(client, { ...group, handle });
      await waitUntil(() => publisher.isReady, { what: 'the publisher', timeoutMs: 60_000 });
      await using spooling = new SpoolingPublisher(publisher, await DiskSpool.open({ path: folder.path, maxBytes: 1e8 }), log);
      const write = async (key: string) => (await spooling.write([{ key, value: Buffer.from('x') }]))[0];
      const untilConsumed = (key: string) => waitUntil(() => consumed.has(key), { what: `${key} consumed`, timeoutMs: 90_000 });

      expect(await write('before')).toBe('published');
      await untilConsumed('before');
      await deleteTopic(kafka, topic);
      expect(await write('without a topic')).toBe('spooled');
      await createTopic(kafka, { topic });
      await untilConsumed('without a topic');
      await waitUntil(() => spooling.figures.spooledRecords === 0, { what: 'the spool to drain', timeoutMs: 60_000 });
      expect(await write('after')).toBe('published');
      await untilConsumed('after');
      expect(log.messages('error')).toEqual([]);
    },
    RESTART_TEST_TIMEOUT_MS,
  );
});
