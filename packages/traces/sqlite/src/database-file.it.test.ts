import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { foreignFile } from '@vitrine/sqlite/database-file';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';
import { openPlainStore } from './testing/open-plain-store.ts';
import { TRACE_FILE } from './trace-tables.ts';

/** Every file of a folder with its content. */
const contents = (folder: string) =>
  readdirSync(folder)
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      return [name, lstatSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'no file'];
    });

const database = (sql: string) => (path: string) => {
  using made = new DatabaseSync(path);
  made.exec(sql);
};
const file = (bytes: string | Buffer) => (path: string) => writeFileSync(path, bytes);

const FOREIGN: readonly (readonly [string, (path: string) => void, string])[] = [
  [
    'a database of another program',
    database('CREATE TABLE users (a); CREATE TABLE orders (b); CREATE VIEW latest AS SELECT 1; PRAGMA user_version = 7'),
    'the file contains the tables "latest", "orders", "users" (user_version 7) and is not a Vitrine trace file',
  ],
  [
    'one without a version, which a new file of ours has neither',
    database('CREATE TABLE users (a)'),
    'the file contains the table "users" (user_version 0) and is not a Vitrine trace file',
  ],
  [
    'one in WAL mode',
    database('PRAGMA journal_mode = WAL; CREATE TABLE users (a)'),
    'the file contains the table "users" (user_version 0) and is not a Vitrine trace file',
  ],
  [
    'one whose version is one of ours',
    database('CREATE TABLE traces (id); CREATE TABLE spans (id); PRAGMA user_version = 3'),
    'the file contains the tables "spans", "traces" (user_version 3) and is not a Vitrine trace file',
  ],
  [
    'one with many tables',
    database(Array.from({ length: 9 }, (_, i) => `CREATE TABLE t${i} (a);`).join('')),
    'the file contains the tables "t0", "t1", "t2", "t3", "t4" and 4 more (user_version 0) and is not a Vitrine trace file',
  ],
  [
    'an empty one that another program has marked as its own',
    database('PRAGMA application_id = 1196437808'),
    'the file contains no tables (user_version 0) and is not a Vitrine trace file',
  ],
  [
    'one with a name that would move the cursor',
    database('CREATE TABLE "a\u001b[2Jb" (a)'),
    'the file contains the table "a\\u001b[2Jb" (user_version 0) and is not a Vitrine trace file',
  ],
  ['notes', file('1:this-may-be-a-secret'), 'the file is text and not an SQLite database'],
  ['long notes', file('these are my notes. '.repeat(500)), 'the file is text and not an SQLite database'],
  ['one character', file('x'), 'the file is text and not an SQLite database'],
  ['a compressed file', file(gzipSync('x'.repeat(100_000))), 'the file is a gzip file and not an SQLite database'],
  ['an archive', file('PK\u0003\u0004...'), 'the file is a zip file and not an SQLite database'],
  ['a key', file('-----BEGIN PRIVATE KEY-----\nMC4C'), 'the file is a PEM file and not an SQLite database'],
  ['something else', file(Buffer.alloc(9_000, 1)), 'the file is binary data and not an SQLite database'],
  ['a folder', (path) => mkdirSync(path), 'the file is a folder'],
  ['a device', (path) => symlinkSync('/dev/null', path), 'the file is neither a file nor a folder'],
];

describe('files that are not trace files', () => {
  test.each(FOREIGN)('%s is refused with its kind, and nothing is changed', async (_, make, what) => {
    await using folder = await temporaryFolder('foreign');
    const path = join(folder.path, 'a b?c#.db');
    make(path);
    const before = contents(folder.path);
    expect(foreignFile(path, TRACE_FILE)).toBe(what);
    const error: unknown = await openPlainStore(path).catch((refusal: unknown) => refusal);
    expect([codeOf(error), messageOf(error)]).toEqual(['storage_unusable', `${path} cannot be opened: ${what}`]);
    expect(contents(folder.path)).toEqual(before);
  });

  test('a foreign database that is open, and whose tables are not in the file yet', async () => {
    await using folder = await temporaryFolder('foreign');
    const path = join(folder.path, 'app.db');
    using program = new DatabaseSync(path);
    program.exec('PRAGMA journal_mode = WAL; CREATE TABLE users (a); INSERT INTO users VALUES (1)');
    // `-shm` contains the marks of readers.
    const kept = () => contents(folder.path).filter(([name]) => name !== 'app.db-shm');
    const before = kept();
    expect(messageOf(await openPlainStore(path).catch((refusal: unknown) => refusal))).toContain('contains the table "users"');
    expect(kept()).toEqual(before);
    expect(program.prepare('SELECT count(*) AS n FROM users').get()).toEqual({ n: 1 });
  });

  test('no tables are created among foreign ones, even without an earlier check', async () => {
    await using folder = await temporaryFolder('foreign');
    const path = join(folder.path, 'app.db');
    database('CREATE TABLE users (a)')(path);
    expect(() => new SqliteTraceWriter(path)).toThrow('the file contains the table "users"');
    using left = new DatabaseSync(path, { readOnly: true });
    expect(left.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'users' }]);
  });
});

describe('a trace file, or a file that may become one', () => {
  test.each([
    ['nothing', () => {}],
    ['an empty file', file('')],
    ['a database without tables', database('PRAGMA journal_mode = WAL; VACUUM')],
    ['one of this version', (path: string) => new SqliteTraceWriter(path)[Symbol.dispose]()],
    [
      'one of which the process was killed before anything was in the file',
      (path: string) => {
        const script = `const { DatabaseSync } = require('node:sqlite');
          new DatabaseSync(process.argv[1]).exec('PRAGMA journal_mode = WAL; BEGIN; CREATE TABLE traces (id); CREATE TABLE totals (id);' +
            'PRAGMA user_version = 5; COMMIT');
          process.kill(process.pid, 'SIGKILL');`;
        expect(spawnSync(process.execPath, ['-e', script, path]).signal).toBe('SIGKILL');
        expect(readdirSync(join(path, '..'))).toContain('traces.db-wal');
      },
    ],
  ] as const)('%s is taken', async (_, make) => {
    await using folder = await temporaryFolder('own');
    const path = join(folder.path, 'traces.db');
    make(path);
    expect(foreignFile(path, TRACE_FILE)).toBeUndefined();
  });

  test('one opened by a gateway is recognised', async () => {
    await using folder = await temporaryFolder('own');
    const path = join(folder.path, 'traces.db');
    await using store = await openPlainStore(path);
    expect(foreignFile(path, TRACE_FILE)).toBeUndefined();
    expect(codeOf(await openPlainStore(path).catch((error: unknown) => error))).toBe('storage_locked');
    expect((await store.summary()).traceCount).toBe(0);
  });
});
