import { expect, test } from '@jest/globals';
import { emptyDatabase } from '@vitrine/testkit/template-database';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PostgresPool } from './postgres-pool.ts';

const STATEMENTS = 40;
const ROWS = `SELECT repeat('a', 8192) AS text FROM generate_series(1, 100)`;
const BYTES = STATEMENTS * 100 * 8_192;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
const oldSpace = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;

test.each<[string, (pool: PostgresPool) => Promise<unknown>]>([
  ['statement', (pool) => pool.query(ROWS)],
  ['named statement', (pool) => pool.query(ROWS, [], { name: 'rows' })],
  ['statement of a transaction', (pool) => pool.transaction((transaction) => transaction.query(ROWS))],
])('the rows of a %s are freed by the next young collection', async (_, read) => {
  await using database = await emptyDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test', maxConnections: 1 });
  await read(pool);
  collect();
  const before = oldSpace();
  for (let ran = 0; ran < STATEMENTS; ran += 1) await read(pool);
  // Objects that survive two of them move to the old space.
  collect({ type: 'minor' });
  collect({ type: 'minor' });
  expect(oldSpace() - before).toBeLessThan(BYTES / 4);
});
