import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { DAY, hex, ONE, removeAll, sum, TWO } from '@vitrine/traces/testing/contract-store';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { readPartitionsAhead } from './partitions-ahead.ts';
import { openPostgresTraceStore } from './postgres-trace-store.ts';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';

let database: TestDatabase;
let opened: AsyncDisposableStack;
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  database = opened.use(await templateDatabase());
});
afterEach(async () => opened.disposeAsync());

const openPool = (options: Partial<PostgresPoolOptions> = {}) =>
  opened.use(new PostgresPool({ dsn: database.dsn, applicationName: 'test', ...options }));
const openWriter = (options?: Partial<PostgresPoolOptions>) => new PostgresTraceWriter(openPool(options));
const openStore = (dsn = database.dsn) => opened.use(openPostgresTraceStore({ dsn, applicationName: 'test' }));
const as = (role: string) => {
  const url = new URL(database.dsn.reveal());
  url.searchParams.set('options', `-c role=${role}`);
  return new Secret(url.href);
};

test('concurrent writers write each record once, and all sums match the traces', async () => {
  const records = Array.from({ length: 60 }, (_, at) =>
    plainTrace(DAY + at, { scope: at % 2 === 0 ? ONE : TWO, model: `m${at % 7}` }),
  );
  const writers = [openWriter(), openWriter(), openWriter()];
  const orders = [records, records.toReversed(), records.toSorted((left, right) => (left.model < right.model ? -1 : 1))];
  const results = await Promise.all(
    writers.map(async (writer, which) => {
      const of = orders[which] ?? [];
      const all: string[] = [];
      for (let at = 0; at < of.length; at += 20)
        all.push(
          ...(await writer.write(of.slice(at, at + 20))).map((result) =>
            typeof result === 'string' ? result : 'another result',
          ),
        );
      return all;
    }),
  );
  const counts = Object.fromEntries(
    [...Map.groupBy(results.flat(), (result) => result)].map(([result, of]) => [result, of.length]),
  );
  expect(counts).toEqual({ written: 60, already_there: 120 });
  const store = openStore();
  expect((await store.summary()).traceCount).toBe(60);
  for (const groupBy of [undefined, 'key'] as const) expect(sum(await store.measure({ groupBy }))).toBe(60);
  expect(sum(await store.measure({ groupBy: 'key', bucket: 'hour' }))).toBe(60);
  expect(sum(await store.quotaTotals('2026-01-05'))).toBe(60);
});

test('U+0000, which Postgres cannot store, loses no part of a body and no trace', async () => {
  const record = plainTrace(DAY, {
    model: 'a\0b',
    request_body: 'Grüße\0',
    response_body: 'plain',
    metadata: '{"streaming":true,"correlation_id":"\\u0000"}',
    lineage: { thread_id: '\0' },
  });
  expect(await openWriter().write([record, plainTrace(DAY + 1)])).toEqual(['written', 'written']);
  const found = await openStore().get(hex(record.id));
  expect(found).toMatchObject({ model: 'a\uFFFDb', response_body: 'plain', lineage: { thread_id: '\uFFFD' } });
  expect(found?.metadata).toMatchObject({ request_body_encoding: 'base64', streaming: true, correlation_id: '\0' });
  expect(Buffer.from(found?.request_body ?? '', 'base64').toString()).toBe('Grüße\0');
});

test('batches that COPY does not write are counted by fallback', async () => {
  const writer = openWriter();
  const record = plainTrace(DAY);
  await writer.write([record]);
  expect(writer.fallbacks).toEqual({ insert: 0, records: 0 });
  await writer.write([record, plainTrace(DAY + 1)]);
  expect(writer.fallbacks).toEqual({ insert: 1, records: 0 });
  const unstorable = plainTrace(DAY + 2, { response_status: 2 ** 40 });
  expect(await writer.write([unstorable, plainTrace(DAY + 3)])).toMatchObject([{ error_class: 'constraint' }, 'written']);
  expect(writer.fallbacks).toEqual({ insert: 2, records: 1 });
});

describe('an unreachable store', () => {
  test('takes a bounded number of tries per batch, not one per record', async () => {
    let statements = 0;
    const pool = openPool();
    const writer = openWriter({ lockTimeoutMs: 20, beforeStatement: () => (statements += 1) });
    const records = Array.from({ length: 50 }, (_, at) => plainTrace(DAY + at));
    await pool.transaction(async (transaction) => {
      await transaction.query('LOCK TABLE day_usage IN ACCESS EXCLUSIVE MODE');
      const results = await writer.write(records);
      expect(results).toHaveLength(50);
      expect(results[49]).toMatchObject({
        operation: 'write_batch_fallback',
        error_class: 'contention',
        error: { code: '55P03' },
      });
    });
    expect(statements).toBeLessThan(20);
    expect(new Set(await writer.write(records))).toEqual(new Set(['written']));
  });

  test('is a connection error of every record', async () => {
    const url = new URL(database.dsn.reveal());
    url.port = '1';
    const writer = openWriter({ dsn: new Secret(url.href) });
    const failed = { error_class: 'connection', error: { code: 'ECONNREFUSED' } };
    expect(await writer.write([plainTrace(DAY), plainTrace(DAY)])).toMatchObject([failed, failed]);
  });
});

describe('partitions', () => {
  test('a trace of today is in the partition of today, and retention creates the days ahead and drops old ones', async () => {
    const [store, pool] = [openStore(), openPool()];
    const now = Date.now();
    expect(await readPartitionsAhead(pool)).toBe(0);
    expect(await removeAll({ store } as never, now)).toBe(0);
    expect(await readPartitionsAhead(openPool({ dsn: as('vitrine_trace_writer') }))).toBe(3);
    const record = plainTrace(now);
    const later = plainTrace(now + 3 * 86_400_000);
    const unplanned = plainTrace(now + 30 * 86_400_000);
    await openWriter().write([record, later, unplanned]);
    const rows = await pool.query<{ id: string; partition: string }>(
      'SELECT id, tableoid::regclass::text AS partition FROM traces ORDER BY id',
    );
    const partitionOf = (at: number) => `traces_${new Date(at).toISOString().slice(0, 10).replaceAll('-', '')}`;
    expect(rows.map(({ partition }) => partition)).toEqual([
      partitionOf(now),
      partitionOf(now + 3 * 86_400_000),
      'traces_default',
    ]);
    expect(await removeAll({ store } as never, now + 2 * 86_400_000)).toBe(2);
    expect((await store.list({ limit: 9 })).items.map(({ id }) => id)).toEqual([hex(unplanned.id), hex(later.id)]);
    expect((await store.summary()).traceCount).toBe(2);
  });

  test('an hour whose traces were removed counts completely if it begins in the range, and otherwise not at all', async () => {
    const store = openStore();
    await openWriter().write([plainTrace(DAY + 5_000), plainTrace(DAY + 10_000), plainTrace(DAY + 86_400_000)]);
    const requests = async (from: number, to: number) => sum(await store.measure({ from, to }));
    expect(await requests(DAY + 6_000, DAY + 20_000)).toBe(1);
    await removeAll({ store } as never, DAY + 86_400_000);
    expect([await requests(DAY, DAY + 7_000), await requests(DAY + 6_000, DAY + 20_000)]).toEqual([2, 0]);
  });
});

test.each(['vitrine_trace_writer', 'vitrine_gateway'])('%s may write, read and remove traces', async (role) => {
  const dsn = as(role);
  const writer = openWriter({ dsn });
  const record = plainTrace(DAY);
  expect(await writer.write([record])).toEqual(['written']);
  expect(await writer.write([record])).toEqual(['already_there']);
  const store = openStore(dsn);
  await store.probe();
  expect((await store.get(hex(record.id)))?.id).toBe(hex(record.id));
  expect(await removeAll({ store } as never, DAY + 86_400_000, DAY + 86_400_000)).toBe(1);
});
