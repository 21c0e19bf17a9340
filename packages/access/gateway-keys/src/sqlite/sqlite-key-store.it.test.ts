import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { foreignFile } from '@vitrine/sqlite/database-file';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { KEY_DATABASE } from './key-tables.ts';
import { SqliteKeyStore } from './sqlite-key-store.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder('keys');
  path = join(folder.path, 'gateway-keys.db');
  new SqliteKeyStore(path)[Symbol.dispose]();
});
afterEach(async () => folder[Symbol.asyncDispose]());

test('a file of a newer version is rejected and left unchanged', () => {
  {
    using database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 99');
  }
  expect(() => new SqliteKeyStore(path)).toThrow('schema 99');
  using database = new DatabaseSync(path);
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 });
});

describe('a file that is not a key database', () => {
  const contents = () => readdirSync(folder.path).map((name) => [name, readFileSync(join(folder.path, name)).toString('base64')]);

  test.each([
    [
      'a database of another program',
      'CREATE TABLE users (a); CREATE TABLE orders (b)',
      'the file contains the tables "orders", "users" (user_version 0) and is not a Vitrine key database',
    ],
    [
      'one in WAL mode with our version',
      'PRAGMA journal_mode = WAL; CREATE TABLE users (a); PRAGMA user_version = 1',
      'the file contains the table "users" (user_version 1) and is not a Vitrine key database',
    ],
    [
      'a trace file',
      'CREATE TABLE traces (a); CREATE TABLE payload_pages (a); CREATE TABLE totals (a); PRAGMA user_version = 3',
      'the file contains the tables "payload_pages", "totals", "traces" (user_version 3) and is not a Vitrine key database',
    ],
    ['notes', '', 'the file is text and not an SQLite database'],
  ])('%s is rejected by its content, and nothing is changed', (_, sql, what) => {
    const foreign = join(folder.path, 'foreign.db');
    if (sql === '') writeFileSync(foreign, 'these are my notes');
    else {
      using database = new DatabaseSync(foreign);
      database.exec(sql);
    }
    const before = contents();
    expect(() => new SqliteKeyStore(foreign)).toThrow(what);
    expect(contents()).toEqual(before);
  });

  test('its own file is not a trace file', () => {
    const what = /^the file contains the tables "audit_events", "gateway_keys".* and is not a Vitrine trace file$/;
    expect(foreignFile(path, TRACE_FILE)).toMatch(what);
    expect(foreignFile(path, KEY_DATABASE)).toBeUndefined();
  });
});
