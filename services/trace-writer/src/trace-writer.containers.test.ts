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
/** Zeros compress well, so the topic accepts a record that is larger than a trace-writer reads. */
const OVERSIZED = Buffer.alloc(16_777_217);
const encoded = () => Buffer.from(encodeTraceRecord(plainTrace(Date.now())));
const PUBLISHER_LIMITS = { maxRecordBytes: 2 * OVERSIZED.length, maxPendingBytes: 4 * OVERSIZED.length };

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

  /** Another batch than before, each value with its own key. */
  const publish = async (topic: string, values: readonly Buffer[]) => {
    const client = createKafkaClient({ clientId: 'test', brokers: kafka.brokers }, collectLog());
    await using publisher = new KafkaPublisher(client, { topic, ...PUBLISHER_LIMITS });
    await waitUntil(() => publisher.isReady, { what: 'the publisher', timeoutMs: SLOW_MS });
    const results = await publisher.publish(values.map((value, at) => ({ key: `${at}`, value })));
    expect(new Set(results)).toEqual(new Set(['published']));
  };

  const query = async <R extends object>(text: string) => {
    await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test', maxConnections: 1 });
    return await pool.query<R>(text);
  };

  test(
    'each trace is stored and counted once, however often it is delivered; what cannot be read is a dead letter with its reason',
    async () => {
      await query('TRUNCATE traces, trace_bodies, day_usage');
      const topic = await createTopic(kafka, { partitions: 3 });
      const values = Array.from({ length: 500 }, () => encoded());
      const unreadable = [Buffer.from('no record'), Buffer.from('{"version":99}'), OVERSIZED];
      await publish(topic, [...values, ...unreadable, ...values.slice(0, 100)]);
      await using writer = await start(topic);
      await waitUntil(async () => (await writer.metric('svc_consumer_records_total')) === 603, {
        what: 'all',
        timeoutMs: SLOW_MS,
      });
      expect(await query('SELECT count(*) AS traces FROM traces')).toEqual([{ traces: 500 }]);
      expect(await query('SELECT requests, total_tokens FROM day_usage')).toEqual([{ requests: 500, total_tokens: 1_500 }]);
      const counted = ['written', 'duplicate', 'dead_letter', 'write_failed'].map((name) =>
        writer.metric(`svc_trace_${name}_total`),
      );
      expect(await Promise.all(counted)).toEqual([500, 100, 3, 0]);
      const letters = await readTopic(kafka, deadLetterTopic(topic), unreadable.length);
      const reasonOf = ({ headers, value }: (typeof letters)[number]) =>
        [headers['dead-letter-error-class'], headers['dead-letter-reason'], value] as const;
      expect(new Set(letters.map(reasonOf))).toEqual(
        new Set([
          ['malformed_record', 'the trace record is not a JSON object with a version', 'no record'],
          ['unknown_record_version', expect.stringContaining('has version 99; this program reads'), '{"version":99}'],
          // Without its value, which is larger than the publishing limit.
          ['record_too_large', 'the record has 16777217 bytes; at most 16777216 are read', undefined],
        ]),
      );
      await waitUntil(async () => (await writer.state()) === 'running', { what: 'the consumer' });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a database that goes away and comes back costs nothing but time',
    async () => {
      await query('TRUNCATE traces, trace_bodies, day_usage');
      const topic = await createTopic(kafka, { partitions: 1 });
      await using writer = await start(topic);
      await waitUntil(async () => (await writer.state()) === 'running', { what: 'the consumer', timeoutMs: SLOW_MS });
      await proxy.close();
      await publish(
        topic,
        Array.from({ length: 50 }, () => encoded()),
      );
      await waitUntil(async () => (await writer.state()) === 'database_unavailable', { what: 'the pause', timeoutMs: SLOW_MS });
      await proxy.open();
      await waitUntil(async () => (await writer.metric('svc_trace_written_total')) === 50, { what: 'all', timeoutMs: SLOW_MS });
      expect(await query('SELECT requests FROM day_usage')).toEqual([{ requests: 50 }]);
      expect(await writer.metric('svc_consumer_restarts_total')).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'started before its broker, it waits, says so in log and health, and consumes when the broker comes',
    async () => {
      await query('TRUNCATE traces, trace_bodies, day_usage');
      const topic = await createTopic(kafka, { partitions: 1 });
      await publish(topic, [encoded()]);
      await kafka.stop();
      await using writer = await start(topic);
      const becomes = (state: string) =>
        waitUntil(async () => (await writer.state()) === state, { what: state, timeoutMs: SLOW_MS });
      await becomes('broker_unavailable');
      const lineOf = (message: string) =>
        waitUntil(() => writer.log.find((line) => line.includes(`"msg":"${message}"`)), { what: message });
      for (const message of ['kafka publisher cannot connect; retrying', 'kafka consumer stopped; restarting']) {
        const { error_class, next_step } = JSON.parse(await lineOf(message)) as Record<string, string>;
        expect([error_class, next_step]).toEqual(['connection', expect.stringContaining('start the brokers of queue.brokers')]);
      }
      await kafka.restart();
      await waitUntil(async () => (await writer.metric('svc_trace_written_total')) === 1, { what: 'it', timeoutMs: SLOW_MS });
      await becomes('running');
      await Promise.all(['kafka publisher connected', 'kafka consumer running again'].map(lineOf));
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'started before its topic, it waits, says so in log and health, and consumes when the topic comes',
    async () => {
      const topic = `late-${randomUUID()}`;
      await using writer = await start(topic);
      await waitUntil(async () => (await writer.state()) === 'broker_unavailable', { what: 'the wait', timeoutMs: SLOW_MS });
      const isReported = () =>
        writer.log.some((line) => line.includes('"error_class":"topic"') && line.includes('create the topic'));
      await waitUntil(isReported, { what: 'the log line', timeoutMs: SLOW_MS });
      await createTopic(kafka, { topic });
      await waitUntil(async () => (await writer.state()) === 'running', { what: 'the consumer', timeoutMs: SLOW_MS });
    },
    TEST_TIMEOUT_MS,
  );
});
