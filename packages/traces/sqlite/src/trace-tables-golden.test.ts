import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { changedFiles } from '@vitrine/testkit/shipped-files';
import { sqliteSchema } from '@vitrine/testkit/sqlite-schema';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readFileSync } from 'node:fs';
import { createTraceTables, FIRST_SCHEMA_VERSION, SCHEMA_VERSION } from './trace-tables.ts';

const FOLDER = join(import.meta.dirname, 'testdata');
const fileOf = (version: number) => `trace-schema-${version}.sql`;
const VERSIONS = Array.from({ length: SCHEMA_VERSION - FIRST_SCHEMA_VERSION + 1 }, (_, i) => FIRST_SCHEMA_VERSION + i);

test('testdata contains the tables of this version; npm run golden writes them', () => {
  using database = new DatabaseSync(':memory:');
  createTraceTables(database);
  const text = sqliteSchema(database);
  expect(text).toBe(goldenText(join(FOLDER, fileOf(SCHEMA_VERSION)), text));
});

test('the tables of a version do not change once they are in testdata/SHA256SUMS', () => {
  const remedy = 'append a step to STEPS of trace-tables.ts, which brings the tables before to these';
  expect(changedFiles(join(FOLDER, 'SHA256SUMS'), VERSIONS.map(fileOf), remedy)).toEqual([]);
});

test.each(VERSIONS)('a file of version %i becomes one of this version', (version) => {
  using before = new DatabaseSync(':memory:');
  before.exec(readFileSync(join(FOLDER, fileOf(version)), 'utf8'));
  createTraceTables(before);
  using made = new DatabaseSync(':memory:');
  createTraceTables(made);
  expect(columnsIn(before)).toEqual(columnsIn(made));
});

/** Tables, indexes and their columns. The text of a statement also depends on its migration path. */
function columnsIn(database: DatabaseSync): unknown {
  const columns = `SELECT entry.type, entry.name, one.name AS "column", one.type AS kind, one."notnull", one.pk
    FROM sqlite_schema AS entry LEFT JOIN pragma_table_info(entry.name) AS one ORDER BY 1, 2, 3`;
  return { version: database.prepare('PRAGMA user_version').get(), columns: database.prepare(columns).all() };
}
