import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import type { KafkaRecord } from '@vitrine/kafka/kafka-record';
import type { PublishResult, RecordPublisher } from '@vitrine/kafka/publish/publish-result';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { outboxReadings } from './outbox-figures.ts';
import { MAX_BACKLOG_ROWS } from './outbox-message.ts';
import { OutboxRelay, type OutboxRelayOptions } from './outbox-relay.ts';

const TOPIC = 'vitrine.scans.requested';
const ROUTINE = 'vitrine.scans.routine';
const TIMEOUT_MS = 60_000;

let database: TestDatabase;
let owner: PostgresPool;
beforeAll(async () => {
  database = await templateDatabase();
  owner = new PostgresPool({ dsn: database.dsn, applicationName: 'test', maxConnections: 4 });
});
afterAll(async () => {
  await owner[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => owner.execute('TRUNCATE outbox'));

/** Connects with the rights of a service. */
function poolOf(dsn: Secret = database.dsn, beforeStatement?: (text: string) => void): PostgresPool {
  const url = new URL(dsn.reveal());
  url.searchParams.set('options', '-c role=vitrine_enrich');
  const options = { dsn: new Secret(url.href), applicationName: 'relay', maxConnections: 3, connectTimeoutMs: 10_000 };
  return new PostgresPool({ ...options, ...(beforeStatement && { beforeStatement }) });
}

/** Adds `count` messages with `keys` alternating keys. The payload is the number of the message within its key. */
async function addMessages(count: number, keys: number = count, topic: string = TOPIC): Promise<void> {
  await owner.execute(
    `INSERT INTO outbox (topic, key, payload, created_at)
     SELECT $3, 'shop-' || (n % $2) || '.com', (n / $2)::text, now() - interval '1 minute' FROM generate_series(0, $1::int - 1) AS n ORDER BY n`,
    [count, keys, topic],
  );
}
const unpublished = async () =>
  (await owner.query<{ n: number }>('SELECT count(*) AS n FROM outbox WHERE published_at IS NULL'))[0]?.n;
const untilEmpty = () => waitUntil(async () => (await unpublished()) === 0, { what: 'an empty outbox', timeoutMs: TIMEOUT_MS });

/** A broker that keeps accepted records; `respond` decides the result of each. */
class TestTopic implements RecordPublisher {
  readonly records: string[] = [];
  respond: (record: KafkaRecord) => PublishResult = () => 'published';
  async publish(records: readonly KafkaRecord[]): Promise<readonly PublishResult[]> {
    await new Promise(setImmediate);
    return records.map((record) => {
      const result = this.respond(record);
      if (result === 'published') this.records.push(`${String(record.key)} ${String(record.value)}`);
      return result;
    });
  }
}
const log = () => {
  const lines: { message: string; fields: object }[] = [];
  const write = (fields: object, message: string) => void lines.push({ message, fields });
  return { lines, warn: write, error: write };
};
function relayOf(pool: PostgresPool, topic: RecordPublisher, options: Partial<OutboxRelayOptions> = {}) {
  return new OutboxRelay(pool, { publishers: new Map([[TOPIC, topic]]), logger: log(), pollMs: 5, ...options });
}
/** The numbers of each key in order of arrival, without repetitions by redeliveries. */
function numbersByKey(records: readonly string[]): Record<string, number[]> {
  const byKey: Record<string, number[]> = {};
  for (const record of records) {
    const [key = '', number] = record.split(' ');
    const numbers = (byKey[key] ??= []);
    if (numbers.at(-1) !== Number(number)) numbers.push(Number(number));
  }
  return byKey;
}
const inOrder = (keys: number, each: number) =>
  Object.fromEntries(
    Array.from({ length: keys }, (_, key) => [`shop-${key}.com`, Array.from({ length: each }, (_, n) => n)] as const),
  );

test('two relays publish every message once, in order per key', async () => {
  await using pools = new AsyncDisposableStack();
  const topic = new TestTopic();
  await addMessages(600, 20);
  const relays = [1, 2].map(() => pools.use(relayOf(pools.use(poolOf()), topic, { batch: 7 })));
  await untilEmpty();
  expect(numbersByKey(topic.records)).toEqual(inOrder(20, 30));
  expect(topic.records).toHaveLength(600);
  await waitUntil(() => relays.reduce((sum, { figures }) => sum + (figures.published.get(TOPIC) ?? 0), 0) === 600, {
    what: 'the counters',
    timeoutMs: TIMEOUT_MS,
  });
});

test('topics are drained in order, and messages of an unknown topic stay in the backlog', async () => {
  const order: string[] = [];
  const named = (name: string): RecordPublisher => ({
    publish: async (records) => {
      order.push(...records.map(() => name));
      return records.map(() => 'published');
    },
  });
  await addMessages(4, 4, ROUTINE);
  await addMessages(4);
  await addMessages(3, 3, 'other');
  await using pool = poolOf();
  const publishers = new Map([
    [TOPIC, named('requested')],
    [ROUTINE, named('routine')],
  ]);
  await using relay = relayOf(pool, new TestTopic(), { publishers, batch: 4, backlogIntervalMs: 5 });
  await waitUntil(() => order.length === 8, { what: 'both topics', timeoutMs: TIMEOUT_MS });
  expect(order.join(' ')).toBe(`${'requested '.repeat(4)}${'routine '.repeat(4)}`.trim());
  await waitUntil(() => relay.figures.backlog?.rows === 3, { what: 'the backlog', timeoutMs: TIMEOUT_MS });
  expect(relay.figures.backlog?.oldestAgeMs).toBeGreaterThanOrEqual(60_000);
  expect(MAX_BACKLOG_ROWS).toBe(100_000);
});

test('while the broker is unavailable messages wait, and are published when it is back', async () => {
  await using pool = poolOf();
  const topic = new TestTopic();
  topic.respond = () => 'unavailable';
  await addMessages(10);
  await using relay = relayOf(pool, topic);
  await waitUntil(() => relay.figures.failures.unavailable > 1, { what: 'failures', timeoutMs: TIMEOUT_MS });
  expect(await unpublished()).toBe(10);
  topic.respond = () => 'published';
  await untilEmpty();
  expect(topic.records).toHaveLength(10);
});

test('a message refused by its topic is logged and skipped; only its key waits for it', async () => {
  await using pool = poolOf();
  const topic = new TestTopic();
  topic.respond = ({ key }) => (key === 'shop-1.com' ? 'too_large' : 'published');
  await addMessages(8, 4);
  const logger = log();
  await using relay = relayOf(pool, topic, { logger });
  await waitUntil(() => topic.records.length === 6, { what: 'the other keys', timeoutMs: TIMEOUT_MS });
  expect(numbersByKey(topic.records)).toEqual({ 'shop-0.com': [0, 1], 'shop-2.com': [0, 1], 'shop-3.com': [0, 1] });
  expect(relay.figures.failures.refused).toBe(1);
  const refusals = logger.lines.filter(({ message }) => message === 'outbox message refused by its topic');
  expect(refusals).toMatchObject([{ fields: { key: 'shop-1.com', next_step: expect.any(String) } }]);
  await waitUntil(async () => (await unpublished()) === 2, { what: 'the commit', timeoutMs: TIMEOUT_MS });
});

test('no message is lost and every key keeps its order, whichever statement fails', async () => {
  await using pools = new AsyncDisposableStack();
  await addMessages(60, 6);
  const topic = new TestTopic();
  let n = 0;
  const failing = pools.use(
    poolOf(database.dsn, (text) => {
      // Every third statement for messages fails before it runs, or for COMMIT, instead of running.
      if (!text.includes('count(*)') && (n += 1) % 3 === 0) throw new Error('injected');
    }),
  );
  const relay = pools.use(relayOf(failing, topic, { batch: 5 }));
  const healthy = pools.use(relayOf(pools.use(poolOf()), topic, { batch: 5 }));
  await untilEmpty();
  expect(numbersByKey(topic.records)).toEqual(inOrder(6, 10));
  await waitUntil(() => relay.figures.failures.database > 0, { what: 'a failure', timeoutMs: TIMEOUT_MS });
  expect(healthy.figures.failures.database).toBe(0);
});

test('a database outage is counted and logged, the backlog is unknown during it, and nothing is lost', async () => {
  await using pools = new AsyncDisposableStack();
  const proxy = pools.use(await openTcpProxy(database.dsn));
  const logger = log();
  const topic = new TestTopic();
  const relay = pools.use(relayOf(pools.use(poolOf(proxy.dsn)), topic, { logger, backlogIntervalMs: 5 }));
  await addMessages(5);
  await untilEmpty();
  await proxy.close();
  await waitUntil(() => relay.figures.failures.database > 0 && relay.figures.backlogReadFailures > 0, {
    what: 'failures',
    timeoutMs: TIMEOUT_MS,
  });
  expect(new Set(logger.lines.map(({ message }) => message))).toEqual(
    new Set(['outbox relay failed; retrying', 'outbox backlog not read']),
  );
  await waitUntil(() => relay.figures.backlog === undefined, { what: 'an unknown backlog', timeoutMs: TIMEOUT_MS });
  await proxy.open();
  await addMessages(5);
  await untilEmpty();
  expect(topic.records.length).toBeGreaterThanOrEqual(10);
  await waitUntil(() => relay.figures.backlog?.rows === 0, { what: 'the backlog', timeoutMs: TIMEOUT_MS });
});

test('every counter exists from zero', async () => {
  await using pool = poolOf();
  await using relay = relayOf(pool, new TestTopic());
  const readings = outboxReadings(relay.figures);
  expect(readings.published).toEqual([[{ topic: TOPIC }, 0]]);
  expect(readings.failures).toEqual([
    [{ reason: 'unavailable' }, 0],
    [{ reason: 'refused' }, 0],
    [{ reason: 'database' }, 0],
  ]);
  expect(readings.backlogReadFailures).toBe(0);
});
