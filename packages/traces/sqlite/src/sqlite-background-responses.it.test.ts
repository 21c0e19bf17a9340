import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { backgroundReference, batchFileReference } from '@vitrine/traces/background-response';
import { isSettled } from '@vitrine/traces/record-writer';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { SqliteBackgroundResponses } from './sqlite-background-responses.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
let writer: SqliteTraceWriter;
beforeEach(async () => {
  folder = await temporaryFolder('background');
  path = join(folder.path, 'traces.db');
  writer = new SqliteTraceWriter(path);
});
afterEach(async () => {
  writer[Symbol.dispose]();
  await folder[Symbol.asyncDispose]();
});

const T0 = Date.UTC(2026, 0, 1);
const scope = (org_id: string, gateway_key_id: string, role = 'member') => ({ org_id, workspace_id: 'w', gateway_key_id, role });
const MINE = scope('o', 'gk_1', 'owner');
const OTHER_TENANT = scope('other', 'gk_1');
const created = (id: string, of: Partial<TraceRecord> = {}) =>
  plainTrace(T0, { scope: MINE, total_tokens: 0, background: backgroundReference('created', id), ...of });
const finished = (id: string, of: Partial<TraceRecord> = {}) =>
  plainTrace(T0, { scope: MINE, model: 'gpt-4o', background: backgroundReference('finished', id), ...of });

/** Tokens and key of a stored record; undefined when it was not stored. */
function stored(record: TraceRecord) {
  const [result] = writer.write([record]);
  return isSettled(result) ? [result.settled.total_tokens, result.settled.scope.gateway_key_id] : undefined;
}

test('its usage counts once, on the key that created it, for its tenant only', () => {
  writer.write([created('resp_1')]);
  expect(stored(finished('resp_2'))).toEqual([0, 'gk_1']);
  expect(stored(finished('resp_1', { scope: OTHER_TENANT }))).toEqual([0, 'gk_1']);
  expect(stored(finished('resp_1', { scope: scope('o', 'gk_2') }))).toEqual([3, 'gk_1']);
  expect(stored(finished('resp_1'))).toEqual([0, 'gk_1']);
  writer.write([created('resp_1')]);
  expect(stored(finished('resp_1'))).toEqual([0, 'gk_1']);
});

test('one that is created and seen in one batch counts', () => {
  expect(writer.write([created('resp_1'), finished('resp_1')])).toMatchObject(['written', { settled: { total_tokens: 3 } }]);
});

test('a file of results counts once, as the batch that named it', () => {
  const described = (of: Partial<TraceRecord> = {}) =>
    plainTrace(T0, { scope: MINE, batch_files: [batchFileReference({ batch: 'batch_1', file: 'file_1' })], ...of });
  writer.write([described()]);
  expect(stored(finished('file_1'))).toEqual([0, 'gk_1']);
  writer.write([created('batch_1'), described({ scope: OTHER_TENANT })]);
  expect(stored(finished('file_1', { scope: OTHER_TENANT }))).toEqual([0, 'gk_1']);
  writer.write([described({ scope: scope('o', 'gk_2') })]);
  expect(stored(finished('file_1', { scope: scope('o', 'gk_2') }))).toEqual([3, 'gk_1']);
  writer.write([described()]);
  expect(stored(finished('file_1'))).toEqual([0, 'gk_1']);
});

test('a failed write creates and counts nothing', () => {
  writer.write([created('resp_1')]);
  const bad = { model: null! };
  expect(writer.write([finished('resp_1', bad)])).toMatchObject([{ error_class: 'constraint' }]);
  expect(writer.write([created('resp_2', bad)])).toMatchObject([{ error_class: 'constraint' }]);
  expect([stored(finished('resp_2')), stored(finished('resp_1'))]).toEqual([
    [0, 'gk_1'],
    [3, 'gk_1'],
  ]);
});

test('the oldest are forgotten when there are too many, and all when their traces are removed', () => {
  using database = new DatabaseSync(path);
  const background = new SqliteBackgroundResponses(database, 300);
  database.exec('BEGIN');
  for (let i = 0; i < 1_025; i += 1) background.settle(created(`resp_${i}`, { created_at: T0 + i }));
  database.exec('COMMIT');
  const count = () => Number(database.prepare('SELECT count(*) AS n FROM background_responses').get()?.['n']);
  expect(count()).toBe(300);
  const tokens = (id: string) => background.settle(finished(id)).total_tokens;
  expect([tokens('resp_724'), tokens('resp_725')]).toEqual([0, 3]);
  writer.removeOlderThan(T0 + 1_000);
  expect(count()).toBe(25);
});

test('ids are stored as hashes', () => {
  writer.write([created('sk-proj-canary0123456789')]);
  using database = new DatabaseSync(path);
  const [row] = database.prepare('SELECT * FROM background_responses').all();
  expect(JSON.stringify(row)).not.toContain('canary');
  expect(row?.['response']).toHaveLength(32);
});
