import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { createTraceIds } from '../trace-id.ts';
import type { TraceRecord } from '../trace-record.ts';
import { lockFile } from './file-lock.ts';
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
let seed = 0;
const createId = createTraceIds((count) => new Uint8Array(count).fill((seed += 1)));

function record(createdAt: number, fields: Partial<TraceRecord> = {}): TraceRecord {
  return {
    id: createId(createdAt),
    timestamp: createdAt - 10,
    created_at: createdAt,
    provider: 'openai',
    model: 'gpt-4o',
    request_method: 'POST',
    request_path: '/openai/v1/chat/completions',
    response_status: 200,
    outcome: 'completed',
    input_tokens: 1,
    output_tokens: 2,
    total_tokens: 3,
    usage_status: 'reported',
    latency_ms: 10,
    time_to_first_token_us: 0,
    api_key_hash: undefined,
    estimated_cost_usd: 0.5,
    cost_status: 'priced',
    lineage: {},
    request_headers: 'A\n1',
    response_headers: '',
    request_body: undefined,
    response_body: undefined,
    metadata: '{}',
    ...fields,
  };
}

const write = (...records: TraceRecord[]) =>
  writer.write(
    records.length,
    () => records,
    (one) => one,
  );
const hex = (id: Uint8Array) => Buffer.from(id).toString('hex');

describe('writing', () => {
  test('one bad row costs one row, and its payload nothing else', () => {
    const bad = record(T0 + 1, { model: null as unknown as string });
    const good = [record(T0, { metadata: '{"n":1}' }), record(T0 + 2, { metadata: '{"n":2}' })];
    const [first, last] = good as [TraceRecord, TraceRecord];
    expect(write(first, bad, last)).toMatchObject({
      written: 2,
      failures: [{ operation: 'write_batch_fallback', error_class: 'constraint', count: 1 }],
    });
    using reader = new SqliteTraceReader(path);
    expect(good.map(({ id }) => reader.get(hex(id))?.metadata['n'])).toEqual([1, 2]);
    expect(writer.traceCount).toBe(2);
  });

  test('a trace that is written twice is there once', () => {
    const one = record(T0);
    write(one);
    write(one, record(T0 + 1));
    expect(writer.traceCount).toBe(2);
  });

  test('the count survives reopening', () => {
    write(record(T0), record(T0 + 1));
    writer[Symbol.dispose]();
    writer = new SqliteTraceWriter(path);
    write(record(T0 + 2));
    expect(writer.traceCount).toBe(3);
  });

  test('bodies fill several pages', () => {
    const large = Array.from({ length: 6 }, (_, i) => record(T0 + i, { request_body: `${i}`.repeat(1_500_000) }));
    write(...large);
    using reader = new SqliteTraceReader(path);
    expect(large.map(({ id }) => reader.get(hex(id))?.request_body?.slice(0, 2))).toEqual(['00', '11', '22', '33', '44', '55']);
  });

  test('a file of a newer version is refused', () => {
    using database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99');
    expect(() => new SqliteTraceWriter(path)).toThrow('schema 99');
  });
});

describe('listing by time', () => {
  test('a slow exchange is found by when it started, whatever it ended', () => {
    write(record(T0, {}), record(T0 + DAY_MS, { timestamp: T0 + 5, latency_ms: DAY_MS - 5 }), record(T0 + DAY_MS + 1));
    using reader = new SqliteTraceReader(path);
    const found = reader.list({ limit: 10, from: T0 + 1, to: T0 + 10 }).items;
    expect(found.map(({ timestamp }) => timestamp)).toEqual([new Date(T0 + 5).toISOString()]);
  });
});

describe('retention', () => {
  test('removes what is older, payloads too, and nothing else', () => {
    const old = Array.from({ length: 2_500 }, (_, i) => record(T0 + i));
    const kept = record(T0 + DAY_MS);
    write(...old);
    // Written before the clock was set back: its page is older than theirs.
    write(kept);
    write(record(T0 + 1));
    expect([
      writer.removeOlderThan(T0 + DAY_MS),
      writer.removeOlderThan(T0 + DAY_MS),
      writer.removeOlderThan(T0 + DAY_MS),
    ]).toEqual([2_000, 501, 0]);
    expect(writer.traceCount).toBe(1);
    using database = new DatabaseSync(path);
    expect(database.prepare('SELECT count(*) AS n FROM payload_pages').get()).toEqual({ n: 1 });
    using reader = new SqliteTraceReader(path);
    expect(reader.get(hex(kept.id))?.request_headers).toEqual({ a: ['1'] });
  });
});

test('a file is locked once, and free again when it is let go of', () => {
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
