import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
const remembered = (id: string, createdAt = T0) => ({ id, scope: MINE, model: 'gpt-4o', createdAt });

test('is given once, with whose it is, to its tenant only', () => {
  const { background } = writer;
  background.remember(remembered('resp_1'));
  expect(background.take('resp_2', MINE)).toBeUndefined();
  expect(background.take('resp_1', scope('other', 'gk_1'))).toBeUndefined();
  writer.write({ count: 1, records: () => [plainTrace(T0, { scope: scope('other', 'gk_1') })] });
  expect(background.take('resp_1', scope('other', 'gk_1'))).toBeUndefined();
  expect(background.take('resp_1', scope('o', 'gk_2'))).toEqual({ scope: MINE, model: 'gpt-4o' });
  expect(background.take('resp_1', MINE)).toBeUndefined();
  background.remember(remembered('resp_1'));
  expect(background.take('resp_1', MINE)).toBeUndefined();
});

test('what a failed write remembered or counted is as it was', () => {
  const { background } = writer;
  background.remember(remembered('resp_1'));
  const taken: unknown[] = [];
  const bad = { ...plainTrace(T0), model: null! };
  const writeBad = (make: () => void) =>
    writer.write({
      count: 1,
      *records(): Generator<TraceRecord> {
        make();
        yield bad;
      },
    });
  expect(writeBad(() => taken.push(background.take('resp_1', MINE)))).toMatchObject([{ error_class: 'constraint' }]);
  expect(writeBad(() => background.remember(remembered('resp_2')))).toMatchObject([{ error_class: 'constraint' }]);
  expect(taken).toEqual([{ scope: MINE, model: 'gpt-4o' }]);
  expect([background.take('resp_2', MINE), background.take('resp_1', MINE)]).toEqual([undefined, taken[0]]);
});

test('the oldest are forgotten when there are too many, and all when their traces go', () => {
  using database = new DatabaseSync(path);
  const background = new SqliteBackgroundResponses(database, 300);
  database.exec('BEGIN');
  for (let i = 0; i < 1_025; i += 1) background.remember(remembered(`resp_${i}`, T0 + i));
  database.exec('COMMIT');
  const count = () => Number(database.prepare('SELECT count(*) AS n FROM background_responses').get()?.['n']);
  expect(count()).toBe(300);
  expect([background.take('resp_724', MINE), background.take('resp_725', MINE)]).toEqual([undefined, expect.anything()]);
  writer.removeOlderThan(T0 + 1_000);
  expect(count()).toBe(25);
});

test('of ids a hash is kept', () => {
  writer.background.remember(remembered('sk-proj-canary0123456789'));
  using database = new DatabaseSync(path);
  const [row] = database.prepare('SELECT * FROM background_responses').all();
  expect(JSON.stringify(row)).not.toContain('canary');
  expect(row?.['response']).toHaveLength(32);
});
