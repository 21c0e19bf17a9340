import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { NO_SCOPE } from '@vitrine/traces/exchange-scope';
import { plainTrace as record } from '@vitrine/traces/testing/plain-trace';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { lockFile } from '@vitrine/sqlite/file-lock';
import { measuresIn } from './measure-table.ts';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
let writer: SqliteTraceWriter;
beforeEach(async () => {
  folder = await temporaryFolder('store');
  path = join(folder.path, 'traces.db');
  writer = new SqliteTraceWriter(path);
});
afterEach(async () => {
  writer[Symbol.dispose]();
  await folder[Symbol.asyncDispose]();
});

const DAY_MS = 86_400_000;
const T0 = Date.UTC(2026, 0, 1);
const write = (...records: TraceRecord[]) => writer.write(records);
const hex = (id: Uint8Array) => Buffer.from(id).toString('hex');

describe('writing', () => {
  test('a bad row or payload affects no other row', () => {
    const bad = record(T0 + 1, { model: null! });
    const good = [record(T0, { metadata: '{"n":1}' }), record(T0 + 2, { metadata: '{"n":2}' })];
    const [first, last] = good as [TraceRecord, TraceRecord];
    expect(write(first, bad, last)).toMatchObject([
      'written',
      { operation: 'write_batch_fallback', error_class: 'constraint' },
      'written',
    ]);
    using reader = new SqliteTraceReader(path);
    expect(good.map(({ id }) => reader.get(hex(id))?.metadata['n'])).toEqual([1, 2]);
    expect(writer.traceCount).toBe(2);
  });

  test('a trace written twice is stored once', () => {
    const one = record(T0);
    write(one);
    expect(write(one, record(T0 + 1))).toEqual(['already_there', 'written']);
    expect(write(one)).toEqual(['already_there']);
    expect(writer.traceCount).toBe(2);
  });

  test('the time to the first token is rounded like every other time', () => {
    const times = [0, 499, 500, 1_499, 1_500, 90_009];
    write(...times.map((time_to_first_token_us, i) => record(T0 + i, { time_to_first_token_us, latency_ms: 91 })));
    using reader = new SqliteTraceReader(path);
    const shown = reader.list({ limit: 9 }).items.map((one) => [one.time_to_first_token_us, one.time_to_first_token_ms]);
    expect(shown.toReversed()).toEqual(times.map((us, i) => [us, [0, 0, 1, 1, 2, 90][i]]));
  });

  test('the count survives reopening', () => {
    write(record(T0), record(T0 + 1));
    writer[Symbol.dispose]();
    writer = new SqliteTraceWriter(path);
    write(record(T0 + 2));
    expect(writer.traceCount).toBe(3);
  });

  test('bodies may be large', () => {
    const large = Array.from({ length: 6 }, (_, i) => record(T0 + i, { request_body: `${i}`.repeat(1_500_000) }));
    write(...large);
    using reader = new SqliteTraceReader(path);
    expect(large.map(({ id }) => reader.get(hex(id))?.request_body?.slice(0, 2))).toEqual(['00', '11', '22', '33', '44', '55']);
  });

  test('a file of another program is refused and left unchanged', () => {
    const foreign = join(folder.path, 'foreign.db');
    using database = new DatabaseSync(foreign);
    database.exec('CREATE TABLE notes (text TEXT)');
    const before = readFileSync(foreign);
    expect(() => new SqliteTraceWriter(foreign)).toThrow('the file contains the table "notes"');
    expect(readFileSync(foreign).equals(before)).toBe(true);
  });

  test.each([4, 99])('a file of another version is refused and left unchanged: %i', (version) => {
    using database = new DatabaseSync(path);
    database.exec(`PRAGMA user_version = ${version}`);
    expect(() => new SqliteTraceWriter(path)).toThrow(`schema ${version}`);
    expect(() => new SqliteTraceReader(path)).toThrow(`schema ${version}`);
  });
});

describe('the test write', () => {
  test('leaves nothing behind, also after a crash', () => {
    write(record(T0));
    const rows = () => {
      using database = new DatabaseSync(path);
      const tables = ['traces', 'trace_bodies', 'trace_sums', 'day_usage', 'totals'];
      return tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all());
    };
    const before = rows();
    writer.probe();
    expect(rows()).toEqual(before);
    {
      using database = new DatabaseSync(path);
      database.exec("INSERT INTO trace_bodies VALUES ('', '', '', NULL, NULL, 'x')");
    }
    writer.probe();
    expect(rows()).toEqual(before);
    write(record(T0 + 1));
    expect(writer.traceCount).toBe(2);
  });

  test('fails when traces could not be written', () => {
    using database = new DatabaseSync(path);
    database.exec('BEGIN IMMEDIATE');
    expect(() => writer.probe()).toThrow('database is locked');
    database.exec(`ROLLBACK; CREATE TRIGGER refusal BEFORE INSERT ON traces BEGIN SELECT RAISE(ABORT, 'no traces'); END`);
    expect(() => writer.probe()).toThrow('no traces');
    database.exec('DROP TRIGGER refusal');
    writer.probe();
    database.exec('DROP TABLE trace_bodies');
    expect(() => writer.probe()).toThrow('no such table');
  });
});

describe('tenants', () => {
  const scopes = ['one', 'two'].map((workspace_id) => ({ org_id: 'o', workspace_id, gateway_key_id: 'gk_1', role: 'viewer' }));

  test('a foreign trace is not found, and an own trace has its tenant', () => {
    const [mine, theirs] = scopes.map((scope, i) => record(T0 + i, { scope })) as [TraceRecord, TraceRecord];
    write(mine, theirs, record(T0 + 2, { scope: NO_SCOPE }));
    using reader = new SqliteTraceReader(path);
    const tenant = { org_id: 'o', workspace_id: 'one' };
    expect(reader.list({ limit: 10, tenant }).items.map(({ id }) => id)).toEqual([hex(mine.id)]);
    expect(reader.get(hex(theirs.id), tenant)).toBeUndefined();
    expect(reader.get(hex(mine.id), tenant)?.metadata).toMatchObject({
      org_id: 'o',
      workspace_id: 'one',
      gateway_key_id: 'gk_1',
      role: 'viewer',
    });
    expect(reader.list({ limit: 10, tenant: { org_id: 'o', workspace_id: 'three' } }).items).toEqual([]);
    expect(reader.list({ limit: 10 }).items).toHaveLength(3);
  });
});

describe('listing by time', () => {
  test('a slow exchange is found by its start time, regardless of its end', () => {
    write(record(T0, {}), record(T0 + DAY_MS, { timestamp: T0 + 5, latency_ms: DAY_MS - 5 }), record(T0 + DAY_MS + 1));
    using reader = new SqliteTraceReader(path);
    const found = reader.list({ limit: 10, from: T0 + 1, to: T0 + 10 }).items;
    expect(found.map(({ timestamp }) => timestamp)).toEqual([new Date(T0 + 5).toISOString()]);
  });
});

describe('retention', () => {
  test('removes only older traces, including payloads', () => {
    const old = Array.from({ length: 2_500 }, (_, i) => record(T0 + i));
    const kept = record(T0 + DAY_MS);
    write(...old);
    write(kept);
    write(record(T0 + 1));
    expect([
      writer.removeOlderThan(T0 + DAY_MS),
      writer.removeOlderThan(T0 + DAY_MS),
      writer.removeOlderThan(T0 + DAY_MS),
    ]).toEqual([
      [{ what: 'traces', count: 2_000, oldest: T0, newest: T0 + 1_998 }],
      [{ what: 'traces', count: 501, oldest: T0 + 1_999, newest: T0 + 2_499 }],
      [],
    ]);
    expect(writer.traceCount).toBe(1);
    using database = new DatabaseSync(path);
    expect(database.prepare('SELECT count(*) AS n FROM trace_bodies').get()).toEqual({ n: 1 });
    using reader = new SqliteTraceReader(path);
    expect(reader.get(hex(kept.id))?.request_headers).toEqual({ a: ['1'] });
  });
});

describe('retention of sums', () => {
  const KEPT = T0 + 10 * DAY_MS;

  test('they outlive their traces, and are removed by whole days', () => {
    write(record(T0 + 60_000, { model: 'gone', api_key_hash: new Uint8Array(32).fill(1) }));
    write(record(KEPT, { model: 'kept', api_key_hash: new Uint8Array(32).fill(2) }));
    using reader = new SqliteTraceReader(path);
    const models = () => measuresIn(reader.measure({ groupBy: 'model' })!).map(({ group }) => group);
    writer.removeOlderThan(KEPT, T0);
    expect([reader.list({ limit: 9 }).items.length, models()]).toEqual([1, ['gone', 'kept']]);
    // The day of the bound stays complete.
    writer.removeOlderThan(KEPT, T0 + DAY_MS - 1);
    expect(models()).toEqual(['gone', 'kept']);
    writer.removeOlderThan(KEPT, T0 + DAY_MS);
    expect([models(), reader.quotaTotals('2026-01-01'), reader.quotaTotals('2026-01-11').length]).toEqual([['kept'], [], 1]);
  });

  test('they are also removed after the clock was ahead for a while', () => {
    writer.removeOlderThan(0, T0 + 30 * DAY_MS);
    write(record(T0 + 60_000, { model: 'gone' }), record(KEPT, { model: 'kept' }));
    writer.removeOlderThan(KEPT, T0 + DAY_MS);
    using reader = new SqliteTraceReader(path);
    expect(measuresIn(reader.measure({ groupBy: 'model' })!).map(({ group }) => group)).toEqual(['kept']);
  });

  test('an hour whose traces were removed counts completely if it begins in the range', () => {
    write(record(T0 + 1_000), record(T0 + 1_800_000), record(KEPT));
    writer.removeOlderThan(KEPT, 0);
    using reader = new SqliteTraceReader(path);
    const requests = (from: number, to: number) => measuresIn(reader.measure({ from, to })!).map((one) => one.requests);
    expect(requests(T0, T0 + 60_000)).toEqual([2]);
    expect(requests(T0 + 60_000, T0 + DAY_MS)).toEqual([]);
    expect(requests(T0 + 60_000, KEPT - 10)).toEqual([1]);
  });
});

test('a file that was moved or deleted gets no traces, until it is back in its place', () => {
  write(record(T0));
  renameSync(path, `${path}.moved`);
  const moved = [{ error_class: 'unknown', error: { code: 'file_moved' } }];
  expect(write(record(T0 + 1))).toMatchObject(moved);
  expect(() => writer.probe()).toThrow('the trace file was moved, deleted or replaced');
  writeFileSync(path, '');
  expect(write(record(T0 + 2))).toMatchObject(moved);
  rmSync(path);
  renameSync(`${path}.moved`, path);
  expect(write(record(T0 + 3))).toEqual(['written']);
  expect(writer.traceCount).toBe(2);
});

test('a file is locked by every link to it, also before it exists', () => {
  for (const target of [path, join(folder.path, 'new.db')]) {
    const link = `${target}.link`;
    symlinkSync(target, link);
    using _lock = lockFile(link);
    expect(codeOf(attempt(() => lockFile(target)))).toBe('storage_locked');
    writeFileSync(target, '');
    expect([link, target].map((one) => codeOf(attempt(() => lockFile(one))))).toEqual(['storage_locked', 'storage_locked']);
  }
});

test('a new file has pages of 8 KiB', () => {
  using database = new DatabaseSync(path);
  expect(database.prepare('PRAGMA page_size').get()).toEqual({ page_size: 8_192 });
});

test('a file can be locked once, and is free after its release', () => {
  const lock = lockFile(path);
  expect(() => lockFile(path)).toThrow(expect.objectContaining({ code: 'storage_locked' }));
  lock[Symbol.dispose]();
  lockFile(path)[Symbol.dispose]();
  expect(codeOf(attempt(() => lockFile('/nowhere/at/all')))).toBe('storage_unusable');
});

function attempt(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}
