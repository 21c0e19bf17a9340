import { expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { MEASURES_MAX } from '@vitrine/traces/trace-measures';
import { openPostgresTraceStore } from './postgres-trace-store.ts';

const QUERY = { groupBy: 'model', parts: ['tokens'] } as const;

test('a result is limited in the number of groups, in one bucket or several', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  await using store = openPostgresTraceStore({ dsn: database.dsn, applicationName: 'test' });
  const addModels = (first: number, last: number) =>
    pool.execute(
      `INSERT INTO trace_sums_by_model_day
       SELECT date '2026-01-05' + model % 3, '*', '*', 'openai', model, 1, 0, 0, 0, 1, 1, 2, 0, 5, 5, 5, 0, now(), '{{5,1}}'
       FROM generate_series($1::integer, $2) AS model`,
      [first, last],
    );
  const groupsByDay = async () => (await store.measure({ ...QUERY, bucket: 'day' })).length;
  await addModels(1, MEASURES_MAX);
  expect(await store.measure(QUERY)).toHaveLength(MEASURES_MAX);
  expect(await groupsByDay()).toBe(MEASURES_MAX);
  await addModels(MEASURES_MAX + 1, MEASURES_MAX + 1);
  await expect(store.measure(QUERY)).rejects.toMatchObject({ code: 'too_many_groups' });
  await expect(groupsByDay()).rejects.toMatchObject({ code: 'too_many_groups' });
  expect(await store.measure({ ...QUERY, model: '7' })).toHaveLength(1);
});
