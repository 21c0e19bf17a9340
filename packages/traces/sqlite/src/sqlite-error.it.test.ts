import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { classifySqliteError } from './sqlite-error.ts';

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('errors of SQLite have their class, their name and their text', async () => {
  await using folder = await temporaryFolder('errors');
  const path = join(folder.path, 'some.db');
  using database = new DatabaseSync(path, { timeout: 0 });
  database.exec('PRAGMA page_size = 512; CREATE TABLE t (a TEXT NOT NULL, b BLOB); PRAGMA max_page_count = 4');
  using other = new DatabaseSync(path, { timeout: 0 });
  using reader = new DatabaseSync(path, { readOnly: true });
  const errors = [
    thrownBy(() => database.exec('INSERT INTO t VALUES (NULL, NULL)')),
    thrownBy(() => database.exec("INSERT INTO t VALUES ('a', zeroblob(100000))")),
    thrownBy(() => reader.exec("INSERT INTO t VALUES ('a', NULL)")),
    thrownBy(() => new DatabaseSync(join(folder.path, 'none', 'none.db'))),
    thrownBy(() => database.exec('SELECT nonsense')),
    thrownBy(() => {
      other.exec('BEGIN EXCLUSIVE');
      database.exec('BEGIN IMMEDIATE');
    }),
  ];
  expect(errors.map(classifySqliteError)).toEqual(
    [
      ['constraint', 'SQLITE_CONSTRAINT', /NOT NULL constraint failed: t.a/],
      ['unknown', 'SQLITE_FULL', /database or disk is full/],
      ['unknown', 'SQLITE_READONLY', /readonly/],
      ['connection', 'SQLITE_CANTOPEN', /unable to open database file/],
      ['unknown', 'SQLITE_ERROR', /no such column: nonsense/],
      ['contention', 'SQLITE_BUSY', /database is locked/],
    ].map(([error_class, code, message]) => ({
      error_class,
      error: { name: 'SqliteError', code, message: expect.stringMatching(message as RegExp), errcode: expect.any(Number) },
    })),
  );
});

test('an internal bug has its stack', () => {
  const { error_class, error } = classifySqliteError(new TypeError('no function'));
  expect(error_class).toBe('unknown');
  expect(error).toMatchObject({
    name: 'TypeError',
    message: 'no function',
    stack: expect.stringContaining('sqlite-error.it.test'),
  });
});
