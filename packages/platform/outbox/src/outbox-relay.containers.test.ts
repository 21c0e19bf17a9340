import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startKafka, type RunningKafka } from '@vitrine/e2e/environment';
import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { KafkaPublisher } from '@vitrine/kafka/publish/kafka-publisher';
import { collectLog } from '@vitrine/kafka/testing/collect-log';
import { createTopic, readTopic } from '@vitrine/kafka/testing/topics';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { OutboxRelay } from './outbox-relay.ts';

/** A broker takes up to 20 s to start on a busy machine. */
const TIMEOUT_MS = 240_000;
const WAIT_MS = 120_000;
const KEYS = 25;
const MESSAGES = 1_000;

await describeWithContainers('the outbox on Kafka', () => {
  let kafka: RunningKafka;
  beforeAll(async () => {
    kafka = await startKafka();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await kafka[Symbol.asyncDispose]();
  });

  test(
    'two relays over a restart of the broker lose no message, and each partition has those of a key in their order',
    async () => {
      await using stack = new AsyncDisposableStack();
      const topic = await createTopic(kafka, { partitions: 3 });
      const database = stack.use(await templateDatabase());
      const pool = stack.use(new PostgresPool({ dsn: database.dsn, applicationName: 'test', maxConnections: 6 }));
      const addMessages = (from: number) =>
        pool.execute(
          `INSERT INTO outbox (topic, key, payload, created_at)
           SELECT $1, 'shop-' || (n % ${KEYS}) || '.com', (n / ${KEYS})::text, now() FROM generate_series($2::int, $2::int + ${MESSAGES / 2 - 1}) AS n ORDER BY n`,
          [topic, from],
        );
      await addMessages(0);
      const relays = [1, 2].map(() => {
        const client = createKafkaClient({ clientId: 'outbox', brokers: kafka.brokers }, collectLog());
        const publisher = stack.use(new KafkaPublisher(client, { topic }));
        const publishers = new Map([[topic, publisher]]);
        return stack.use(new OutboxRelay(pool, { publishers, logger: collectLog(), batch: 10, pollMs: 5 }));
      });
      const published = () => relays.reduce((sum, { figures }) => sum + (figures.published.get(topic) ?? 0), 0);
      await waitUntil(() => published() > 0, { what: 'the first messages', timeoutMs: WAIT_MS });
      await kafka.stop();
      await addMessages(MESSAGES / 2);
      await kafka.restart();
      const isEmpty = async () => (await pool.query('SELECT FROM outbox WHERE published_at IS NULL LIMIT 1')).length === 0;
      await waitUntil(isEmpty, { what: 'an empty outbox', timeoutMs: WAIT_MS });

      const numbers = new Map<string, number[]>();
      for (const { key, value } of await readTopic(kafka, topic, MESSAGES))
        numbers.set(key, [...(numbers.get(key) ?? []), Number(value)]);
      expect(numbers.size).toBe(KEYS);
      // A batch that the broker wrote but did not acknowledge is delivered again, so duplicates are removed.
      const firsts = [...numbers.values()].map((of) => of.filter((number, at) => of.indexOf(number) === at));
      expect(firsts).toEqual(Array.from({ length: KEYS }, () => Array.from({ length: MESSAGES / KEYS }, (_, n) => n)));
    },
    TIMEOUT_MS,
  );
});
