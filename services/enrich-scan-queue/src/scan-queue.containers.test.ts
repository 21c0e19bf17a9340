import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startKafka, type RunningKafka } from '@vitrine/e2e/environment';
import { deadLetterTopic } from '@vitrine/kafka/consume/dead-letter';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { KafkaPublisher } from '@vitrine/kafka/publish/kafka-publisher';
import { collectLog } from '@vitrine/kafka/testing/collect-log';
import { createTopic, readTopic } from '@vitrine/kafka/testing/topics';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { SCAN_TOPICS } from '@vitrine/stores/scans/queue-scans';
import { storeDatabase, type StoreDatabase } from '@vitrine/stores/testing/store-database';
import { createLogger } from '@vitrine/telemetry/logger';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { RunResult } from './jobs/job-runner.ts';
import type { ClaimedJob } from './jobs/scan-jobs.ts';
import { createRunScan } from './run-scan.ts';
import { queueTestScans, startTestQueue } from './testing/start-test-queue.ts';
import { commitFirst, describeAsDemo, testCapture } from './testing/test-capture.ts';

const SLOW_MS = 120_000;
const TEST_TIMEOUT_MS = 600_000;
/** Shared by all tests, because another group would read the messages of earlier tests again, and each waits for a slot. */
const GROUP = 'scans';
const TOPICS = Object.values(SCAN_TOPICS);

await describeWithContainers('scan jobs over Kafka 4.1', () => {
  let kafka: RunningKafka;
  let database: StoreDatabase;
  let api: PostgresPool;
  beforeAll(async () => {
    kafka = await startKafka();
    database = await storeDatabase();
    api = database.as('vitrine_store_api');
    await importVocabulary(api, VOCABULARY);
    for (const topic of TOPICS) await createTopic(kafka, { topic, partitions: 4 });
  }, TEST_TIMEOUT_MS);
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await kafka[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await database.owner.query('TRUNCATE stores, observations, signals, scan_jobs, outbox, request_turns CASCADE');
  });

  const eventually = (what: string, check: () => boolean | Promise<boolean>) => waitUntil(check, { what, timeoutMs: SLOW_MS });
  const replica = (createRun: (pool: PostgresPool) => (job: ClaimedJob, signal: AbortSignal) => Promise<RunResult>, more = {}) =>
    startTestQueue(database, createRun, { brokers: kafka.brokers.join(','), SCAN_QUEUE_GROUP: GROUP, ...more });
  const scan = (pool: PostgresPool) =>
    createRunScan({
      pool,
      turns: undefined,
      scanStorefront: async (domain) => testCapture(domain),
      describe: describeAsDemo,
      commit: commitFirst,
      cadenceMs: 86_400_000,
      onCommit: () => {},
      logger: createLogger('test', 'silent', { write: () => true }),
    });
  const countOf = async (text: string) =>
    (await database.owner.query<{ n: number }>(`SELECT count(*) AS n FROM ${text}`))[0]?.n ?? 0;
  const publish = async (topic: string, values: readonly string[]) => {
    const client = createKafkaClient({ clientId: 'test', brokers: kafka.brokers }, collectLog());
    await using publisher = new KafkaPublisher(client, { topic });
    await eventually('the publisher', () => publisher.isReady);
    const results = await publisher.publish(values.map((value, at) => ({ key: `${at}`, value: Buffer.from(value) })));
    expect(new Set(results)).toEqual(new Set(['published']));
  };

  test(
    'every queued scan is run once by one of two replicas, however often it is delivered; what is no message is a dead letter',
    async () => {
      const domains = Array.from({ length: 60 }, (_, i) => `shop-${i}.com`);
      const ids = await queueTestScans(api, domains);
      await using first = replica(scan);
      await using second = replica(scan);
      await eventually('all scans', async () => (await countOf(`scan_jobs WHERE status = 'completed'`)) === 60);
      expect(await countOf('observations')).toBe(60);
      const ends = () => [...first.ends, ...second.ends].map(({ result }) => result);
      await eventually('all ends', () => ends().length >= 60);
      expect(ends()).toEqual(Array<string>(60).fill('completed'));
      const again = [...ids].map(([domain, scan_job_id]) => JSON.stringify({ scan_job_id, domain }));
      // A missing job has ended and was deleted.
      const gone = JSON.stringify({ scan_job_id: `job_${'0'.repeat(26)}`, domain: 'a.com' });
      const malformed = [
        'no message',
        '',
        '\0',
        '['.repeat(4_000),
        '{"scan_job_id":"job_1","domain":"a.com"}',
        `"${'x'.repeat(500_000)}"`,
      ];
      await publish(SCAN_TOPICS.requested, [...malformed, ...again.slice(0, 10), gone]);
      const sumOf = (read: (queue: typeof first.queue) => number | undefined) =>
        (read(first.queue) ?? 0) + (read(second.queue) ?? 0);
      await eventually('the duplicates', () => sumOf(({ figures }) => figures.duplicates) >= 11);
      await eventually(
        'the dead letters',
        () => sumOf(({ figures }) => figures.consumers.get('requested')?.deadLetters) >= malformed.length,
      );
      const letters = await readTopic(kafka, deadLetterTopic(SCAN_TOPICS.requested), malformed.length);
      // A rebalance may deliver some of them once more.
      expect(new Set(letters.map(({ headers }) => headers['dead-letter-error-class']))).toEqual(new Set(['malformed_message']));
      expect(await countOf('observations')).toBe(60);
      expect(await countOf('outbox WHERE published_at IS NULL')).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'requested scans are run before the routine ones that fill their topic, and offsets wait for slots',
    async () => {
      const order: string[] = [];
      const open: ((result: RunResult) => void)[] = [];
      const held = (job: ClaimedJob) => {
        order.push(job.cause);
        return new Promise<RunResult>((resolve) => open.push(resolve));
      };
      const routine = Array.from({ length: 20 }, (_, i) => `routine-${i}.com`);
      await using one = replica(() => held, { SCAN_CONCURRENCY: '1' });
      // Messages that earlier tests left uncommitted are taken first, because each would need the slot.
      await eventually('an empty queue', () => one.queue.lagRecords === 0);
      await queueTestScans(api, routine, 'routine');
      await eventually('a routine scan', () => order.length === 1);
      expect(one.queue.figures.inFlight).toBe(1);
      const requested = Array.from({ length: 10 }, (_, i) => `requested-${i}.com`);
      await queueTestScans(api, requested);
      for (let i = 1; i <= 10; i += 1) {
        await eventually('a requested scan in line', () => (one.queue.figures.waiting.get('requested') ?? 0) > 0);
        open.shift()?.({ outcome: 'blocked', reason: 'challenged', detail: 'test' });
        await eventually(`run ${i + 1}`, () => order.length === i + 1);
      }
      expect(order).toEqual(['routine', ...Array<string>(10).fill('requested')]);
      // Messages waiting for a slot are not committed. They are in the topic or the outbox, and none of their jobs has begun.
      expect(await countOf(`scan_jobs WHERE cause = 'routine' AND status = 'queued' AND attempts = 0`)).toBe(19);
      open.shift()?.({ outcome: 'blocked', reason: 'challenged', detail: 'test' });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a replica that leaves hands its scans to the other one: nothing is lost, and nothing is done twice',
    async () => {
      const untilAborted = (_domain: string, { signal }: { readonly signal: AbortSignal }) =>
        new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));
      const stuck = (pool: PostgresPool) =>
        createRunScan({
          pool,
          turns: undefined,
          scanStorefront: untilAborted,
          describe: describeAsDemo,
          commit: commitFirst,
          cadenceMs: 86_400_000,
          onCommit: () => {},
          logger: createLogger('test', 'silent', { write: () => true }),
        });
      await queueTestScans(
        api,
        Array.from({ length: 30 }, (_, i) => `moved-${i}.com`),
      );
      const leaving = replica(stuck, { SCAN_CONCURRENCY: '8' });
      await eventually('eight scans', () => leaving.queue.figures.inFlight === 8);
      await leaving.queue.stop();
      expect(await countOf(`scan_jobs WHERE status = 'running'`)).toBe(0);
      await using _staying = replica(scan);
      await eventually('all scans', async () => (await countOf(`scan_jobs WHERE status = 'completed'`)) === 30);
      expect(await countOf('observations')).toBe(30);
      expect(await countOf('scan_jobs WHERE attempts <> 1')).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );
});
