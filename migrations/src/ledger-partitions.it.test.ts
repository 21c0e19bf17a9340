import { expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';

test('the store API makes the partitions of the months to come, once, and rows that came before are moved into them', async () => {
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
