import { expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { PostgresTraceWriter } from '@vitrine/trace-store-postgres/postgres-trace-writer';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { openPostgresTraces } from './open-traces.ts';

test('the tenants of a database are those of its traces, without the rows that sum up all of them', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const records = [plainTrace(Date.UTC(2026, 0, 5))];
  await new PostgresTraceWriter(pool).write(records);
  await using traces = openPostgresTraces({ dsn: database.dsn, applicationName: 'test' });
  expect(await traces.tenants()).toEqual([{ org_id: 'default', workspace_id: 'default' }]);
});
