import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startKafka, type RunningKafka } from '@vitrine/e2e/environment';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { deadLetterTopic } from '@vitrine/kafka/consume/dead-letter';
import { KafkaPublisher } from '@vitrine/kafka/publish/kafka-publisher';
import { collectLog } from '@vitrine/kafka/testing/collect-log';
import { createTopic, readTopic } from '@vitrine/kafka/testing/topics';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy, type TcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { encodeTraceRecord } from '@vitrine/traces/encode-trace-record';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { randomUUID } from 'node:crypto';
import { startTestWriter } from './testing/start-test-writer.ts';

const SLOW_MS = 60_000;
const TEST_TIMEOUT_MS = 180_000;

await describeWithContainers('traces from Kafka 4.1 to Postgres', () => {
  let kafka: RunningKafka;
  let database: TestDatabase;
  let proxy: TcpProxy;
  beforeAll(async () => {
    kafka = await startKafka();
    database = await templateDatabase();
    proxy = await openTcpProxy(database.dsn);
  }, TEST_TIMEOUT_MS);
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    await kafka[Symbol.asyncDispose]();
  });

  const start = (topic: string) =>
    startTestWriter({
      WRITER_STORAGE_DSN: proxy.dsn.reveal(),
      WRITER_QUEUE_BROKERS: kafka.brokers.join(','),
      WRITER_QUEUE_TOPIC: topic,
      WRITER_QUEUE_GROUP: randomUUID(),
    });

  /** Another batch than before, each value with a key of its own. */
  const publish = async (topic: string, values: readonly Buffer[]) => {
    const client = createKafkaClient({ clientId: 'test', brokers: kafka.brokers }, collectLog());
    await using publisher = new KafkaPublisher(client, { topic });
    await waitUntil(() => publisher.isReady, { what: 'the publisher', timeoutMs: SLOW_MS });
    await publisher.publish(values.map((value, at) => ({ key: `${at}`, value })));
  };

  const query = async <R extends object>(text: string) => {
    await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test', maxConnections: 1 });
    return await pool.query<R>(text);
  };

  test(
    'each trace is stored and counted once, however often it is delivered; what cannot be read is a dead letter',
    async () => {
      await query('TRUNCATE traces, trace_bodies, day_usage');
      const topic = await createTopic(kafka, { partitions: 3 });
      const values = Array.from({ length: 500 }, () => encodeTraceRecord(plainTrace(Date.now())));
      await publish(topic, [...values, Buffer.from('no record'), ...values.slice(0, 100)]);
      await using writer = await start(topic);
      await waitUntil(async () => (await writer.metric('svc_consumer_records_total')) === 601, {
        what: 'all',
        timeoutMs: SLOW_MS,
      });
      expect(await query('SELECT count(*) AS traces FROM traces')).toEqual([{ traces: 500 }]);
      expect(await query('SELECT requests, total_tokens FROM day_usage')).toEqual([{ requests: 500, total_tokens: 1_500 }]);
      const counted = ['written', 'duplicate', 'dead_letter', 'write_failed'].map((name) =>
        writer.metric(`svc_trace_${name}_total`),
      );
      expect(await Promise.all(counted)).toEqual([500, 100, 1, 0]);
      const [letter] = await readTopic(kafka, deadLetterTopic(topic), 1);
      expect(letter).toMatchObject({ value: 'no record', headers: { 'dead-letter-error-class': 'malformed_record' } });
      await waitUntil(async () => (await writer.waitingFor()) === undefined, { what: 'readiness' });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a database that goes away and comes back costs nothing but time',
    async () => {
      await query('TRUNCATE traces, trace_bodies, day_usage');
      const topic = await createTopic(kafka, { partitions: 1 });
      await using writer = await start(topic);
      await waitUntil(async () => (await writer.waitingFor()) === undefined, { what: 'readiness', timeoutMs: SLOW_MS });
      await proxy.close();
      await publish(
        topic,
        Array.from({ length: 50 }, () => encodeTraceRecord(plainTrace(Date.now()))),
      );
      await waitUntil(async () => /database/.test((await writer.waitingFor()) ?? ''), { what: 'the pause', timeoutMs: SLOW_MS });
      await proxy.open();
      await waitUntil(async () => (await writer.metric('svc_trace_written_total')) === 50, { what: 'all', timeoutMs: SLOW_MS });
      expect(await query('SELECT requests FROM day_usage')).toEqual([{ requests: 50 }]);
      expect(await writer.metric('svc_consumer_restarts_total')).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );
});
