import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { changedFiles } from '@vitrine/testkit/shipped-files';
import { sqliteSchema } from '@vitrine/testkit/sqlite-schema';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { KEY_MIGRATIONS } from './key-tables.ts';

const FOLDER = join(import.meta.dirname, 'testdata');
const fileOf = (version: number) => `keys-schema-${version}.sql`;
const VERSIONS = KEY_MIGRATIONS.map((_, i) => i + 1);

test.each(VERSIONS)('testdata contains the tables of key databases of version %i; npm run golden writes them', (version) => {
  using database = new DatabaseSync(':memory:');
  for (const migration of KEY_MIGRATIONS.slice(0, version)) database.exec(migration);
  database.exec(`PRAGMA user_version = ${version}`);
  const text = sqliteSchema(database);
  expect(text).toBe(goldenText(join(FOLDER, fileOf(version)), text));
});

test('the tables of a version do not change once they are in testdata/SHA256SUMS', () => {
  const remedy = 'append a migration to KEY_MIGRATIONS of key-tables.ts';
  expect(changedFiles(join(FOLDER, 'SHA256SUMS'), VERSIONS.map(fileOf), remedy)).toEqual([]);
});
