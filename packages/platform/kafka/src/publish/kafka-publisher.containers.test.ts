import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startKafka, type RunningKafka } from '@vitrine/e2e/environment';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createKafkaClient } from '../kafka-client.ts';
import { recordBytes } from '../kafka-record.ts';
import { collectLog } from '../testing/collect-log.ts';
import { createTopic, deleteTopic, readTopic } from '../testing/topics.ts';
import { KafkaPublisher, MAX_BATCH_BYTES } from './kafka-publisher.ts';

/** A broker takes up to 20 s to start on a busy machine. */
const RESTART_TEST_TIMEOUT_MS = 180_000;
const START_TIMEOUT_MS = 180_000;

await describeWithContainers('publishing to Kafka 4.1', () => {
  let kafka: RunningKafka;

  beforeAll(async () => {
    kafka = await startKafka();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await kafka[Symbol.asyncDispose]();
  });

  const open = async (options: { topic: string } & Partial<ConstructorParameters<typeof KafkaPublisher>[1]>) => {
    const log = collectLog();
    const publisher = new KafkaPublisher(createKafkaClient({ clientId: 'test', brokers: kafka.brokers }, log), options);
    await waitUntil(() => publisher.isReady, { what: 'the publisher', timeoutMs: 60_000 });
    return { publisher, log, [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose]() };
  };
  const numbered = (count: number, from: number = 0) =>
    Array.from({ length: count }, (_, at) => ({ key: `k${from + at}`, value: Buffer.from(`value ${from + at}`) }));

  test.each(['none', 'gzip', 'zstd'] as const)('records, keys and headers arrive with compression %s', async (compression) => {
    const topic = await createTopic(kafka, { partitions: 3 });
    await using opened = await open({ topic, compression });
    const records = numbered(1_500).map((record) => ({ ...record, headers: { 'content-type': 'text/plain' } }));
    const results = await opened.publisher.publish(records);
    expect(new Set(results)).toEqual(new Set(['published']));
    const read = await readTopic(kafka, topic, records.length);
    expect(read.map(({ key }) => key).toSorted()).toEqual(records.map(({ key }) => key).toSorted());
    expect(read[0]?.headers).toEqual({ 'content-type': 'text/plain' });
    expect(opened.log.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
    expect(read[0]?.value).toMatch(/^value \d+$/);
  });

  test('records of one key are read in the order in which they were published', async () => {
    const topic = await createTopic(kafka, { partitions: 3 });
    await using opened = await open({ topic, sendTimeoutMs: 30_000 });
    const records = Array.from({ length: 90 }, (_, at) => ({ key: `k${at % 7}`, value: Buffer.from(String(at)) }));
    for (const from of [0, 30, 60]) await opened.publisher.publish(records.slice(from, from + 30));
    const read = await readTopic(kafka, topic, records.length);
    const valuesOf = (all: readonly { readonly key: string; readonly value: unknown }[], wanted: string) =>
      all.filter(({ key }) => key === wanted).map(({ value }) => String(value));
    expect(read).toHaveLength(records.length);
    for (const { key } of records.slice(0, 7)) expect(valuesOf(read, key)).toEqual(valuesOf(records, key));
  });

  test.each(['gzip', 'zstd'] as const)('a record is stored in the topic compressed with %s', async (compression) => {
    const topic = await createTopic(kafka, { maxMessageBytes: 20_000 });
    await using opened = await open({ topic, compression });
    const value = 'x'.repeat(200_000);
    expect(await opened.publisher.publish([{ key: 'k', value: Buffer.from(value) }])).toEqual(['published']);
    expect((await readTopic(kafka, topic, 1))[0]?.value).toBe(value);
  });

  test.each(['none', 'gzip', 'zstd'] as const)(
    'a full send that cannot be compressed fits into a topic of 1 MiB: %s',
    async (compression) => {
      const topic = await createTopic(kafka, { maxMessageBytes: 1_048_576 });
      await using opened = await open({ topic, compression, maxRecordBytes: MAX_BATCH_BYTES });
      const value = randomBytes(MAX_BATCH_BYTES - recordBytes({ key: 'k', value: Buffer.alloc(0) }));
      expect(recordBytes({ key: 'k', value })).toBe(MAX_BATCH_BYTES);
      expect(await opened.publisher.publish([{ key: 'k', value }])).toEqual(['published']);
    },
  );

  test('an idle publisher notices that its topic was deleted, and publishes again when it was created', async () => {
    const topic = await createTopic(kafka, {});
    await using opened = await open({ topic, idleLookMs: 200 });
    const { publisher } = opened;
    await deleteTopic(kafka, topic);
    await waitUntil(() => !publisher.isReady && publisher.failedBy === 'topic', { what: 'the missing topic', timeoutMs: 60_000 });
    await createTopic(kafka, { topic });
    await waitUntil(() => publisher.isReady, { what: 'the publisher', timeoutMs: 60_000 });
    expect(await publisher.publish(numbered(1))).toEqual(['published']);
  });

  test('a process that has published ends by itself, and prints nothing but what it publishes', async () => {
    const topic = await createTopic(kafka, {});
    const program = join(import.meta.dirname, '../testing/publish-one.ts');
    // kafkajs 2.2.4 sets a negative timer, about which Node warns once per process (docs/design/pipeline.md#kafkajs-behind-a-small-port).
    const flags = ['--disable-warning=ExperimentalWarning', '--disable-warning=TimeoutNegativeWarning'];
    const args = [...flags, program, kafka.brokers[0] ?? '', topic];
    expect(await promisify(execFile)(process.execPath, args, { timeout: 50_000 })).toEqual({ stdout: 'published', stderr: '' });
  });

  test('a record that the topic refuses as too large affects no other record', async () => {
    const topic = await createTopic(kafka, { maxMessageBytes: 20_000 });
    await using opened = await open({ topic, compression: 'none' });
    const records = numbered(8).map((record, at) => (at === 5 ? { ...record, value: Buffer.alloc(30_000, 'x') } : record));
    const results = await opened.publisher.publish(records);
    expect(results.map((result) => result === 'too_large')).toEqual(records.map((_, at) => at === 5));
    expect(results.filter((result) => result === 'published')).toHaveLength(7);
  });

  test(
    'a broker that restarts while records are published loses none that was acknowledged',
    async () => {
      const topic = await createTopic(kafka, { partitions: 4 });
      await using opened = await open({ topic });
      const acknowledged = new Set<string>();
      let next = 0;
      let isRestarted = false;
      const restart = kafka.restart().then(() => (isRestarted = true));
      let unavailable = 0;
      await waitUntil(
        async () => {
          const records = numbered(50, next);
          next += records.length;
          const results = await opened.publisher.publish(records);
          for (const [at, { key }] of records.entries()) if (results[at] === 'published') acknowledged.add(key);
          if (results.includes('unavailable')) unavailable += 1;
          return isRestarted && unavailable > 0 && results.every((result) => result === 'published');
        },
        { what: 'publishing after the restart', timeoutMs: 90_000 },
      );
      await restart;
      const read = await readTopic(kafka, topic, acknowledged.size);
      const keys = new Set(read.map(({ key }) => key));
      expect([...acknowledged].filter((key) => !keys.has(key))).toEqual([]);
    },
    RESTART_TEST_TIMEOUT_MS,
  );

  test(
    'a broker that stops responding delays a send by its bound',
    async () => {
      const topic = await createTopic(kafka, {});
      await using opened = await open({ topic, sendTimeoutMs: 1_000 });
      await kafka.pause();
      try {
        const startedAt = performance.now();
        expect(await opened.publisher.publish(numbered(3))).toEqual(['unavailable', 'unavailable', 'unavailable']);
        expect(performance.now() - startedAt).toBeLessThan(3_000);
        expect(opened.publisher.isReady).toBe(false);
      } finally {
        await kafka.unpause();
      }
      await waitUntil(() => opened.publisher.isReady, { what: 'the publisher to connect again', timeoutMs: 90_000 });
      expect(await opened.publisher.publish(numbered(3))).toEqual(['published', 'published', 'published']);
    },
    RESTART_TEST_TIMEOUT_MS,
  );
});
