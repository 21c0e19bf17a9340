import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import { ExchangeBatch } from '@vitrine/trace-derivation/exchange-batch';
import { PLAIN_POLICY, plainExchange } from '@vitrine/trace-derivation/testing/plain-exchange';
import { DAY, ONE, TWO } from '@vitrine/traces/testing/contract-store';
import { backgroundReference, batchFileReference } from '@vitrine/traces/background-response';
import { isSettled } from '@vitrine/traces/record-writer';
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

const created = (id: string, of: Partial<TraceRecord> = {}) =>
  plainTrace(DAY, { scope: ONE, total_tokens: 0, background: backgroundReference('created', id), ...of });
const finished = (id: string, of: Partial<TraceRecord> = {}) =>
  plainTrace(DAY, { scope: ONE, background: backgroundReference('finished', id), ...of });
const BAD = { model: null! };

/** The writer of a gateway. `poll`: tokens and key of the record of a poll; undefined when it is lost. */
function gateway() {
  const writer = new PostgresTraceWriter(pool);
  return {
    write: (...records: TraceRecord[]) => writer.write(records),
    poll: async (id: string, of: Partial<TraceRecord> = {}) => {
      const [result] = await writer.write([finished(id, of)]);
      return isSettled(result) ? [result.settled.total_tokens, result.settled.scope.gateway_key_id] : undefined;
    },
  };
}

test('its usage counts once, on its key, whichever gateway sees it', async () => {
  const [one, two] = [gateway(), gateway()];
  await one.write(created('resp_1'));
  expect(await two.poll('resp_2')).toEqual([0, 'gk_1']);
  expect(await two.poll('resp_1', { scope: TWO })).toEqual([0, 'gk_2']);
  const others = { scope: OTHER_KEY };
  const polls = await Promise.all([one.poll('resp_1', others), two.poll('resp_1', others)]);
  expect(polls).toHaveLength(2);
  expect(polls).toContainEqual([0, 'gk_9']);
  expect(polls).toContainEqual([3, 'gk_1']);
  await one.write(created('resp_1'));
  expect(await one.poll('resp_1')).toEqual([0, 'gk_1']);
});

test('a file of results counts once, as the batch that named it', async () => {
  const { write, poll } = gateway();
  const described = (of: Partial<TraceRecord> = {}) =>
    plainTrace(DAY, { scope: OTHER_KEY, batch_files: [batchFileReference({ batch: 'batch_1', file: 'file_1' })], ...of });
  await write(described());
  expect(await poll('file_1')).toEqual([0, 'gk_1']);
  await write(created('batch_1'), described({ scope: TWO }));
  expect(await poll('file_1', { scope: TWO })).toEqual([0, 'gk_2']);
  await write(described(), described());
  expect(await poll('file_1', { scope: OTHER_KEY })).toEqual([3, 'gk_1']);
  await write(described());
  expect(await poll('file_1')).toEqual([0, 'gk_1']);
});

test('a lost record creates and counts nothing', async () => {
  const { write, poll } = gateway();
  await write(created('resp_1'));
  expect(await poll('resp_1', BAD)).toBeUndefined();
  expect(await write(created('resp_2', BAD))).toMatchObject([{ error_class: 'constraint' }]);
  expect(await poll('resp_2')).toEqual([0, 'gk_1']);
  expect(await poll('resp_1')).toEqual([3, 'gk_1']);
});

test('one created and seen in one batch counts once, next to a lost record', async () => {
  const { write } = gateway();
  expect(await write(created('resp_1'), plainTrace(DAY, BAD), finished('resp_1'), finished('resp_1'))).toMatchObject([
    'written',
    { error_class: 'constraint' },
    { settled: { total_tokens: 3 } },
    { settled: { total_tokens: 0 } },
  ]);
});

test('ids are stored as hashes, which are removed with the traces of their time', async () => {
  await gateway().write(created('sk-proj-canary0123456789'));
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
