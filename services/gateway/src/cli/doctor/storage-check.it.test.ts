import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { SqliteTraceWriter } from '@vitrine/trace-store-sqlite/sqlite-trace-writer';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readGatewayConfig } from '../../config.ts';
import { checkStorage } from './storage-check.ts';

const { queue } = readGatewayConfig({ path: 'vitrine.yaml', text: '' }, {});

test('a trace file of an earlier version fails with its reason and is left unchanged', async () => {
  await using folder = await temporaryFolder('storage-check');
  const path = join(folder.path, 'traces.db');
  new SqliteTraceWriter(path)[Symbol.dispose]();
  {
    using database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 4');
  }
  const before = readFileSync(path);
  expect(await checkStorage({ storage: { driver: 'sqlite', path }, queue })).toMatchObject({
    status: 'fail',
    summary: 'the traces cannot be read',
    details: [`path: ${path}`, expect.stringContaining('schema 4 from before version 0.1.0')],
  });
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('a trace file passes when a write is committed to it, and fails while another process holds its lock', async () => {
  await using folder = await temporaryFolder('storage-check');
  const path = join(folder.path, 'traces.db');
  new SqliteTraceWriter(path)[Symbol.dispose]();
  const check = () => checkStorage({ storage: { driver: 'sqlite', path }, queue });
  expect(await check()).toMatchObject({ status: 'pass', summary: 'the traces can be read and written' });
  expect(readdirSync(folder.path)).toEqual(['traces.db']);
  using other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const { status, summary, details } = await check();
  expect([status, summary, details.at(-1)]).toEqual(['fail', 'the traces cannot be written', `${path}: database is locked`]);
});
