import { expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';

test('the store API creates the partitions of coming months once, and moves earlier rows into them', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const make = (monthsAhead: number) =>
    pool.transaction(async (transaction) => {
      await transaction.query('SET LOCAL ROLE vitrine_store_api');
      return (await transaction.query('SELECT make_ledger_partitions($1) AS made', [monthsAhead]))[0]?.['made'];
    });
  const now = new Date();
  const monthOf = (ahead: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead));
  const nameOf = (month: Date) => `ledger_${month.toISOString().slice(0, 7).replace('-', '')}`;
  const insert = (at: Date) =>
    pool.execute(`INSERT INTO ledger VALUES ('ws', $2, 'example.com', 'lookup_cached', $1, 'key', $1)`, [at, at.toISOString()]);

  await insert(monthOf(0));
  await insert(new Date(monthOf(1).getTime() - 1));
  await insert(monthOf(1));
  await insert(monthOf(-2));
  expect([await make(1), await make(1), await make(2)]).toEqual([2, 0, 1]);
  const rows = await pool.query('SELECT tableoid::regclass::text AS name, count(*) AS n FROM ledger GROUP BY 1 ORDER BY 1');
  expect(rows).toEqual([
    { name: nameOf(monthOf(0)), n: 2 },
    { name: nameOf(monthOf(1)), n: 1 },
    { name: 'ledger_default', n: 1 },
  ]);
  await expect(insert(monthOf(0))).rejects.toMatchObject({ code: '23505' });
});

test('a row billed while its month gets a partition waits and is written into the partition', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const waiting = async () =>
    (await pool.query("SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND relation = 'ledger'::regclass"))[0]?.['n'];
  const insert = `INSERT INTO ledger VALUES ('ws', $1, 'example.com', 'lookup_cached', now(), 'key', now())`;

  // Otherwise it gives up after two seconds, and a busy machine takes longer to come to the next line.
  await pool.execute('ALTER FUNCTION make_ledger_partitions(integer) RESET lock_timeout');
  const [made, late] = await pool.transaction(async (transaction) => {
    await transaction.execute(insert, ['before']);
    const making = pool.query('SELECT make_ledger_partitions(0)');
    await waitUntil(async () => (await waiting()) === 1, { what: 'the partition to wait for the row' });
    const billing = pool.execute(insert, ['after']);
    await waitUntil(async () => (await waiting()) === 2, { what: 'the later row to wait for the partition' });
    return [making, billing];
  });
  await Promise.all([made, late]);
});
