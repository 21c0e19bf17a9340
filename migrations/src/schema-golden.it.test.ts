import { expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { readFileSync, writeFileSync } from 'node:fs';
import { describeSchema } from './describe-schema.ts';

const GOLDEN = new URL('../schema.sql', import.meta.url);
const HEAD = '-- What the migrations make, for reading: written by npm run golden, never run.\n\n';

test('migrations/schema.sql is what the migrations make, on every version of the server; npm run golden rewrites it', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const text = HEAD + (await describeSchema(pool));
  if (process.env['GOLDEN'] === 'write') writeFileSync(GOLDEN, text);
  expect(readFileSync(GOLDEN, 'utf8')).toBe(text);
});
