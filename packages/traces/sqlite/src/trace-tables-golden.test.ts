import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { changedFiles } from '@vitrine/testkit/shipped-files';
import { sqliteSchema } from '@vitrine/testkit/sqlite-schema';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createTraceTables, SCHEMA_VERSION } from './trace-tables.ts';

const FOLDER = join(import.meta.dirname, 'testdata');
/** The version of 0.1.0, the first release. */
const FIRST_VERSION = 5;
const fileOf = (version: number) => `trace-schema-${version}.sql`;
const VERSIONS = Array.from({ length: SCHEMA_VERSION - FIRST_VERSION + 1 }, (_, i) => FIRST_VERSION + i);

test('testdata has the tables of this version; npm run golden writes them', () => {
  using database = new DatabaseSync(':memory:');
  createTraceTables(database);
  const text = sqliteSchema(database);
  expect(text).toBe(goldenText(join(FOLDER, fileOf(SCHEMA_VERSION)), text));
});

test('the tables of a version do not change once they are in testdata/SHA256SUMS', () => {
  const remedy = 'raise SCHEMA_VERSION of trace-tables.ts, with a step from the tables before';
  expect(changedFiles(join(FOLDER, 'SHA256SUMS'), VERSIONS.map(fileOf), remedy)).toEqual([]);
});
