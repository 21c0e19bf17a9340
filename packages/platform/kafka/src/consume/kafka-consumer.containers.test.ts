import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { freePort, startKafka, type RunningKafka } from '@vitrine/e2e/environment';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomUUID } from 'node:crypto';
import { createKafkaClient } from '../kafka-client.ts';
import { KafkaPublisher } from '../publish/kafka-publisher.ts';
import { collectLog } from '../testing/collect-log.ts';
import { createTopic, readTopic } from '../testing/topics.ts';
import type { ConsumedRecord, HandlerResult } from './consumed-record.ts';
import { deadLetterTopic } from './dead-letter.ts';
import { KafkaConsumer, type ConsumerOptions } from './kafka-consumer.ts';

const DONE: HandlerResult = { status: 'done' };
const SLOW_MS = 60_000;
/** A broker takes up to 20 s to start on a busy machine, and the group up to 15 s more to remove the previous member. */
const RESTART_TEST_TIMEOUT_MS = 180_000;
const START_TIMEOUT_MS = 180_000;

await describeWithContainers('consuming from Kafka 4.1', () => {
  let kafka: RunningKafka;
  beforeAll(async () => {
    kafka = await startKafka();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await kafka[Symbol.asyncDispose]();
  });

  const publisherOf = (topic: string) =>
    new KafkaPublisher(createKafkaClient({ clientId: 'test', brokers: kafka.brokers }, collectLog()), { topic });

  const publish = async (topic: string, values: readonly string[]) => {
    await using publisher = publisherOf(topic);
    await waitUntil(() => publisher.isReady, { what: 'the publisher', timeoutMs: SLOW_MS });
    const results = await publisher.publish(values.map((value) => ({ key: `key ${value}`, value: Buffer.from(value) })));
    expect(new Set(results)).toEqual(new Set(['published']));
  };

  const consume = (topic: string, options: Partial<ConsumerOptions> & Pick<ConsumerOptions, 'handle'>) => {
    const log = collectLog();
    const client = createKafkaClient({ clientId: 'test', brokers: kafka.brokers }, log);
    const deadLetters = publisherOf(deadLetterTopic(topic));
    const groupId = `group-${randomUUID()}`;
    const isAvailable = () => Promise.resolve(true);
    const consumer = new KafkaConsumer(client, {
      topic,
      groupId,
      deadLetters,
      isAvailable,
      probeMs: 20,
      lagIntervalMs: 50,
      ...options,
    });
    const close = async () => {
      await consumer[Symbol.asyncDispose]();
      await deadLetters[Symbol.asyncDispose]();
    };
    return { consumer, log, [Symbol.asyncDispose]: close };
  };

  const numbered = (count: number, from: number = 0) => Array.from({ length: count }, (_, at) => String(from + at));
  const texts = (records: readonly ConsumedRecord[]) => records.map(({ value }) => String(value));
  /** A handler that records its input, and can be replaced for one test. */
  const keeper = () => {
    const kept: string[] = [];
    return { kept, handle: async (records: readonly ConsumedRecord[]) => (kept.push(...texts(records)), DONE) };
  };

  test('committed records are not delivered to the next consumer of the group', async () => {
    const topic = await createTopic(kafka, { partitions: 3 });
    const groupId = `group-${randomUUID()}`;
    await publish(topic, numbered(1_000));
    const first = keeper();
    {
      await using running = consume(topic, { ...first, groupId, maxBatchRecords: 100 });
      await waitUntil(() => first.kept.length === 1_000, { what: 'all records', timeoutMs: SLOW_MS });
      // The broker has the last commit shortly before this process counts its records.
      const { consumer } = running;
      await waitUntil(() => consumer.figures.lagRecords === 0 && consumer.figures.records >= 1_000, { what: 'lag of 0' });
      // Not `restarts`: a broker that has just started may end the first session while it creates the topic of offsets.
      expect(consumer.figures).toMatchObject({ records: 1_000, assignedPartitions: 3, deadLetters: 0 });
    }
    expect(first.kept.toSorted()).toEqual(numbered(1_000).toSorted());
    await publish(topic, numbered(10, 1_000));
    const second = keeper();
    await using _ = consume(topic, { ...second, groupId });
    await waitUntil(() => second.kept.length >= 10, { what: 'the new records', timeoutMs: SLOW_MS });
    expect(second.kept.toSorted()).toEqual(numbered(10, 1_000).toSorted());
  });

  test('an unavailable handler pauses the consumer without a rebalance or lost records', async () => {
    const topic = await createTopic(kafka, { partitions: 2 });
    await publish(topic, numbered(300));
    const { kept, handle } = keeper();
    let isAway = true;
    let probes = 0;
    await using running = consume(topic, {
      maxBatchRecords: 50,
      handle: async (records) =>
        isAway ? { status: 'unavailable', errorClass: 'connection', reason: 'no database' } : await handle(records),
      isAvailable: async () => (++probes, !isAway),
    });
    const { consumer, log } = running;
    await waitUntil(() => consumer.status === 'paused' && probes > 5, { what: 'the pause', timeoutMs: SLOW_MS });
    await waitUntil(() => consumer.figures.lagRecords === 300, { what: 'lag while paused' });
    expect(kept).toEqual([]);
    isAway = false;
    await waitUntil(() => kept.length >= 300, { what: 'all records', timeoutMs: SLOW_MS });
    expect(kept.toSorted()).toEqual(numbered(300).toSorted());
    expect(consumer.status).toBe('running');
    expect(consumer.figures).toMatchObject({ restarts: 0, rebalances: 0, pauses: 1 });
    expect(log.messages('warn')).toEqual(['kafka consumer paused']);
  });

  test('a poison record goes to the dead letter topic, and the partition moves on', async () => {
    const topic = await createTopic(kafka, {});
    await publish(topic, numbered(64));
    const { kept, handle } = keeper();
    await using running = consume(topic, {
      handle: async (records) => {
        const rejected = records.filter(({ value }) => String(value) === '7');
        if (texts(records).includes('41')) throw new RangeError('cannot be written');
        await handle(records.filter((record) => !rejected.includes(record)));
        return { status: 'done', rejected: rejected.map((record) => ({ record, errorClass: 'malformed', reason: 'no JSON' })) };
      },
    });
    await waitUntil(() => running.consumer.figures.records === 64, { what: 'the batch', timeoutMs: SLOW_MS });
    expect(kept.toSorted()).toEqual(
      numbered(64)
        .filter((text) => text !== '7' && text !== '41')
        .toSorted(),
    );
    const letters = await readTopic(kafka, deadLetterTopic(topic), 2);
    const headers = { 'dead-letter-topic': topic, 'dead-letter-partition': '0' };
    expect(letters.toSorted((a, b) => a.key.localeCompare(b.key))).toEqual([
      {
        key: 'key 41',
        value: '41',
        headers: {
          ...headers,
          'dead-letter-offset': '41',
          'dead-letter-error-class': 'RangeError',
          'dead-letter-reason': 'cannot be written',
          'dead-letter-attempts': '3',
        },
      },
      {
        key: 'key 7',
        value: '7',
        headers: {
          ...headers,
          'dead-letter-offset': '7',
          'dead-letter-error-class': 'malformed',
          'dead-letter-reason': 'no JSON',
          'dead-letter-attempts': '1',
        },
      },
    ]);
    expect(running.consumer.figures).toMatchObject({ deadLetters: 2, restarts: 0 });
    expect(running.log.messages('error')).toHaveLength(2);
  });

  test('two consumers that join and leave process every record', async () => {
    const topic = await createTopic(kafka, { partitions: 4 });
    const groupId = `group-${randomUUID()}`;
    const { kept, handle } = keeper();
    await using first = consume(topic, { handle, groupId, maxBatchRecords: 20 });
    await publish(topic, numbered(400));
    {
      await using second = consume(topic, { handle, groupId, maxBatchRecords: 20 });
      const shares = () => [first, second].map(({ consumer }) => consumer.figures.assignedPartitions);
      await waitUntil(() => shares().join() === '2,2', { what: 'a share for each', timeoutMs: SLOW_MS });
      await publish(topic, numbered(400, 400));
    }
    await waitUntil(() => first.consumer.figures.assignedPartitions === 4, { what: 'all partitions back', timeoutMs: SLOW_MS });
    await publish(topic, numbered(400, 800));
    await waitUntil(() => new Set(kept).size === 1_200, { what: 'all records', timeoutMs: SLOW_MS });
    expect(first.consumer.figures.rebalances).toBeGreaterThan(0);
    expect(first.consumer.figures.restarts).toBe(0);
  });

  test(
    'a consumer survives the restart of its broker',
    async () => {
      const topic = await createTopic(kafka, {});
      const { kept, handle } = keeper();
      await using running = consume(topic, { handle });
      await publish(topic, ['before']);
      await waitUntil(() => kept.includes('before'), { what: 'the first record', timeoutMs: SLOW_MS });
      await kafka.restart();
      await publish(topic, ['after']);
      await waitUntil(() => kept.includes('after'), { what: 'the record after the restart', timeoutMs: SLOW_MS });
      await waitUntil(() => running.consumer.status === 'running', { what: 'the status', timeoutMs: SLOW_MS });
    },
    RESTART_TEST_TIMEOUT_MS,
  );

  test('closing finishes and commits the batch in progress', async () => {
    const topic = await createTopic(kafka, {});
    const groupId = `group-${randomUUID()}`;
    await publish(topic, numbered(10));
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const running = consume(topic, {
      groupId,
      handle: async () => {
        begun.resolve();
        await release.promise;
        return DONE;
      },
    });
    await begun.promise;
    const closed = running[Symbol.asyncDispose]();
    release.resolve();
    await closed;
    expect(running.consumer.status).toBe('stopped');
    const { kept, handle } = keeper();
    await publish(topic, ['next']);
    await using _ = consume(topic, { handle, groupId });
    await waitUntil(() => kept.length > 0, { what: 'the next record', timeoutMs: SLOW_MS });
    expect(kept).toEqual(['next']);
  });

  test('a batch that does not end delays closing by 5 s', async () => {
    const topic = await createTopic(kafka, {});
    await publish(topic, ['stuck']);
    const begun = Promise.withResolvers<void>();
    const never = Promise.withResolvers<HandlerResult>();
    const running = consume(topic, { handle: () => (begun.resolve(), never.promise) });
    await begun.promise;
    const startedAt = performance.now();
    await running[Symbol.asyncDispose]();
    expect(performance.now() - startedAt).toBeLessThan(6_500);
    expect(running.log.messages('error')).toEqual(['kafka consumer did not stop in time']);
    never.resolve(DONE);
  });

  test(
    'a broker that is not there at the start is waited for, with one line in the log',
    async () => {
      const port = await freePort();
      const log = collectLog();
      const client = createKafkaClient({ clientId: 'test', brokers: [`127.0.0.1:${port}`] }, log);
      await using publisher = new KafkaPublisher(client, { topic: 'early' });
      const { kept, handle } = keeper();
      const isAvailable = () => Promise.resolve(true);
      await using consumer = new KafkaConsumer(client, {
        topic: 'early',
        groupId: 'early',
        handle,
        deadLetters: publisher,
        isAvailable,
      });
      await waitUntil(() => consumer.figures.restarts > 1 && log.messages('warn').length > 1, {
        what: 'attempts',
        timeoutMs: SLOW_MS,
      });
      expect([publisher.isReady, consumer.status]).toEqual([false, 'connecting']);
      expect(await publisher.publish([{ key: 'k', value: null }])).toEqual(['unavailable']);
      await using late = await startKafka({ port });
      await createTopic(late, { topic: 'early' });
      await waitUntil(() => publisher.isReady && consumer.status === 'running', { what: 'both to connect', timeoutMs: SLOW_MS });
      expect(await publisher.publish([{ key: 'k', value: Buffer.from('hello') }])).toEqual(['published']);
      await waitUntil(() => kept.includes('hello'), { what: 'the record', timeoutMs: SLOW_MS });
      expect(log.messages('warn').toSorted()).toEqual([
        'kafka consumer stopped; restarting',
        'kafka publisher cannot connect; retrying',
      ]);
    },
    RESTART_TEST_TIMEOUT_MS,
  );
});
