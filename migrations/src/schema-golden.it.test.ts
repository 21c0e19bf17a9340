import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { describeSchema } from './describe-schema.ts';

const GOLDEN = new URL('../schema.sql', import.meta.url);
const HEAD = '-- What the migrations make, for reading: written by npm run golden, never run.\n\n';

test('migrations/schema.sql is the result of the migrations on every version of the server; npm run golden rewrites it', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const text = HEAD + (await describeSchema(pool));
  expect(text).toBe(goldenText(GOLDEN, text));
});
