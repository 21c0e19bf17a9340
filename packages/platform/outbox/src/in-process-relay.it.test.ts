import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { RecordHandler } from '@vitrine/kafka/consume/consumed-record';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { InProcessRelay } from './in-process-relay.ts';

const TOPIC = 'vitrine.scans.requested';
const TIMEOUT_MS = 60_000;

let database: TestDatabase;
let pool: PostgresPool;
beforeAll(async () => {
  database = await templateDatabase();
  pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test', maxConnections: 4 });
});
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => pool.execute('TRUNCATE outbox'));

const addMessages = (...keys: string[]) =>
  pool.execute(
    'INSERT INTO outbox (topic, key, payload, created_at) SELECT $1, key, n::text, now() FROM unnest($2::text[]) WITH ORDINALITY AS k (key, n) ORDER BY k.n',
    [TOPIC, keys],
  );
const unpublished = async () =>
  (await pool.query<{ key: string }>('SELECT key FROM outbox WHERE published_at IS NULL ORDER BY id')).map(({ key }) => key);
const untilEmpty = () =>
  waitUntil(async () => (await unpublished()).length === 0, { what: 'an empty outbox', timeoutMs: TIMEOUT_MS });
function relayOf(handle: RecordHandler, concurrency: number = 4) {
  const lines: { message: string; fields: object }[] = [];
  const write = (fields: object, message: string) => void lines.push({ message, fields });
  const logger = { warn: write, error: write };
  return Object.assign(new InProcessRelay(pool, { handlers: new Map([[TOPIC, handle]]), logger, concurrency, pollMs: 5 }), {
    lines,
  });
}

test('messages are handled concurrently up to the bound, one at a time per key, and marked when done', async () => {
  const running = new Set<string>();
  const handled: string[] = [];
  let most = 0;
  let overlaps = 0;
  await addMessages(...Array.from({ length: 30 }, (_, n) => `shop-${n % 5}.com`));
  await using relay = relayOf(async ([record]) => {
    const key = String(record?.key);
    if (running.has(key)) overlaps += 1;
    running.add(key);
    most = Math.max(most, running.size);
    await new Promise(setImmediate);
    running.delete(key);
    handled.push(`${key} ${String(record?.value)}`);
    return { status: 'done' };
  }, 3);
  await untilEmpty();
  expect(new Set(handled).size).toBe(30);
  expect([overlaps, most <= 3]).toEqual([0, true]);
  const numbers = Map.groupBy(handled, (line) => line.split(' ')[0]);
  for (const lines of numbers.values()) {
    const order = lines.map((line) => Number(line.split(' ')[1]));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  }
  await waitUntil(() => relay.figures.published.get(TOPIC) === 30, { what: 'the counter', timeoutMs: TIMEOUT_MS });
});

test('a message is handled again after an interrupted relay, and while its consumer is unavailable', async () => {
  await addMessages('a.com');
  let calls = 0;
  {
    await using _relay = relayOf(async () => {
      calls += 1;
      return { status: 'unavailable', errorClass: 'connection', reason: 'away' };
    });
    await waitUntil(() => calls > 1, { what: 'a second call', timeoutMs: TIMEOUT_MS });
  }
  expect(await unpublished()).toEqual(['a.com']);
  await using _relay = relayOf(async () => ({ status: 'done' }));
  await untilEmpty();
});

test('a rejected or always failing message is logged and marked, and does not block others', async () => {
  await addMessages('throws.com', 'rejected.com', 'fine.com', 'throws.com');
  const handled: string[] = [];
  await using relay = relayOf(async (records) => {
    const [record] = records;
    const key = String(record?.key);
    handled.push(key);
    if (key === 'throws.com') throw new TypeError('not a job');
    return record !== undefined && key === 'rejected.com'
      ? { status: 'done', rejected: [{ record, errorClass: 'malformed', reason: 'no id' }] }
      : { status: 'done' };
  });
  await untilEmpty();
  await waitUntil(() => relay.figures.failures.refused === 3, { what: 'three rejections', timeoutMs: TIMEOUT_MS });
  const rejected = relay.lines.map(({ fields }) => `${Reflect.get(fields, 'key')} ${Reflect.get(fields, 'attempts')}`);
  expect(rejected.toSorted()).toEqual(['rejected.com 1', 'throws.com 3', 'throws.com 3']);
});
