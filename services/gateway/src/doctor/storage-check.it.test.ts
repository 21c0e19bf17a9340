import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import { SqliteTraceWriter } from '@vitrine/trace-store-sqlite/sqlite-trace-writer';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readGatewayConfig } from '../config.ts';
import { checkStorage } from './storage-check.ts';

const { queue } = readGatewayConfig({ path: 'vitrine.yaml', text: '' }, {});

test.each(['schema-1', 'schema-2', 'schema-3'])(
  'a trace file of an earlier version is fine and left as it is: %s',
  async (name) => {
    await using folder = await temporaryFolder('storage-check');
    const path = join(folder.path, 'traces.db');
    copyFileSync(new URL(`../../../../packages/trace-store-sqlite/src/testdata/${name}.db`, import.meta.url), path);
    const before = readFileSync(path);
    expect(await checkStorage({ storage: { driver: 'sqlite', path }, queue })).toEqual({
      name: 'storage',
      status: 'pass',
      summary: 'the traces of an earlier version will be migrated when the gateway starts',
      details: [`path: ${path}`, `size: ${before.length} bytes`, `schema: ${name.at(-1)}, will become ${TRACE_FILE.version}`],
    });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder.path)).toEqual(['traces.db']);
  },
);

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
