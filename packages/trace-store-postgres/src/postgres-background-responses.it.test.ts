import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import { ExchangeBatch } from '@vitrine/trace-derivation/exchange-batch';
import { PLAIN_POLICY, plainExchange } from '@vitrine/trace-derivation/testing/plain-exchange';
import { DAY, ONE, TWO } from '@vitrine/traces/testing/contract-store';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { openPostgresTraceStore, postgresWriter } from './postgres-trace-store.ts';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';

let opened: AsyncDisposableStack;
let database: TestDatabase;
let pool: PostgresPool;
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  database = opened.use(await templateDatabase());
  pool = opened.use(new PostgresPool({ dsn: database.dsn, applicationName: 'test' }));
});
afterEach(async () => opened.disposeAsync());

const OTHER_KEY = { ...ONE, gateway_key_id: 'gk_9' };

/** A writer of another gateway, and what a derivation of it does. */
function gateway() {
  const writer = new PostgresTraceWriter(pool);
  const write = (records: () => Iterable<TraceRecord>, count = 1) => writer.write({ count, records });
  return {
    create: (id: string, bad?: Partial<TraceRecord>) =>
      write(function* () {
        writer.background.remember({ id, scope: ONE, model: 'gpt-4o', createdAt: DAY });
        yield plainTrace(DAY, { scope: ONE, ...bad });
      }),
    /** Tokens and key of the trace that a poll leaves. */
    poll: async (id: string, scope = ONE, bad?: Partial<TraceRecord>) => {
      const own = plainTrace(DAY, { scope, total_tokens: 0, ...bad });
      let made = own;
      const results = await write(function* () {
        const taken = writer.background.take(id, scope);
        made = taken === undefined ? own : { ...own, scope: taken.scope, total_tokens: 3 };
        yield made;
      });
      return [results[0] === 'written', made.total_tokens, made.scope.gateway_key_id];
    },
  };
}

test('its usage counts once, on its key, whichever gateway sees it', async () => {
  const [one, two] = [gateway(), gateway()];
  await one.create('resp_1');
  expect(await two.poll('resp_2')).toEqual([true, 0, 'gk_1']);
  expect(await two.poll('resp_1', TWO)).toEqual([true, 0, 'gk_2']);
  const polls = await Promise.all([one.poll('resp_1', OTHER_KEY), two.poll('resp_1', OTHER_KEY)]);
  expect(polls).toHaveLength(2);
  expect(polls).toContainEqual([true, 0, 'gk_9']);
  expect(polls).toContainEqual([true, 3, 'gk_1']);
  await one.create('resp_1');
  expect(await one.poll('resp_1')).toEqual([true, 0, 'gk_1']);
});

test('what a lost record created or counted is as it was', async () => {
  const { create, poll } = gateway();
  await create('resp_1');
  expect((await poll('resp_1', ONE, { model: null! }))[0]).toBe(false);
  expect(await create('resp_2', { model: null! })).toMatchObject([{ error_class: 'constraint' }]);
  expect(await poll('resp_2')).toEqual([true, 0, 'gk_1']);
  expect(await poll('resp_1')).toEqual([true, 3, 'gk_1']);
});

test('one that is created and seen in one batch counts, beside a record that is lost', async () => {
  const writer = new PostgresTraceWriter(pool);
  const [create, poll, bad] = [plainTrace(DAY), plainTrace(DAY), plainTrace(DAY, { model: null! })];
  let taken: unknown;
  const results = await writer.write({
    count: 3,
    *records() {
      writer.background.remember({ id: 'resp_1', scope: ONE, model: 'm', createdAt: DAY });
      yield create;
      yield bad;
      taken = writer.background.take('resp_1', ONE);
      yield poll;
    },
  });
  expect(results).toMatchObject(['written', { error_class: 'constraint' }, 'written']);
  expect(taken).toEqual({ scope: ONE, model: 'm' });
});

test('of ids a hash is stored, which goes with the traces of its time', async () => {
  await gateway().create('sk-proj-canary0123456789');
  const rows = () => pool.query<{ response: Buffer }>('SELECT * FROM background_responses');
  const [row] = await rows();
  expect(JSON.stringify(row)).not.toContain('canary');
  expect(row?.response).toHaveLength(32);
  await using store = openPostgresTraceStore({ dsn: database.dsn, applicationName: 'test' });
  while ((await store.removeOlderThan(DAY + 86_400_000)).length > 0);
  expect(await rows()).toEqual([]);
});

test('a derivation thread that writes to Postgres charges a response when it is first seen finished', async () => {
  const writer = postgresWriter({ dsn: database.dsn, applicationName: 'test' });
  await using thread = new DerivationThread({ policy: PLAIN_POLICY, priceOverride: undefined, reportsUsage: true, writer });
  const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };
  const exchange = (method: string, path: string, response: object) => {
    const bytes = Buffer.from(JSON.stringify(response));
    const body = { ...plainExchange(0).response, chunks: [bytes], bytes: bytes.length };
    return plainExchange(0, { method, path: `/openai/v1/responses${path}`, scope: ONE, response: body });
  };
  const batch = new ExchangeBatch(3, 0);
  batch.add(exchange('POST', '', { id: 'resp_1', status: 'queued', background: true }));
  for (let polls = 0; polls < 2; polls += 1) batch.add(exchange('GET', '/resp_1', { id: 'resp_1', status: 'completed', usage }));
  const { written, usage: used } = await thread.write(batch);
  expect([written, (used ?? []).reduce((tokens, row) => tokens + row.total_tokens, 0)]).toEqual([3, 30]);
  await using store = openPostgresTraceStore({ dsn: database.dsn, applicationName: 'test' });
  expect(await store.quotaTotals('2026-01-05')).toMatchObject([{ requests: 3, total_tokens: 30 }]);
});
