import { expect, test } from '@jest/globals';
import { describeWithContainers } from '@vitrine/e2e/describe-with-containers';
import { startPostgres } from '@vitrine/e2e/environment';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { readFileSync } from 'node:fs';
import { describeSchema } from './describe-schema.ts';

const TEST_TIMEOUT_MS = 120_000;

await describeWithContainers('the server of the Postgres image, another version than that of the other tests', () => {
  test(
    'gets the same tables from the migrations',
    async () => {
      const server = await startPostgres();
      // Before the first use of the test server.
      process.env['VITRINE_TEST_POSTGRES_URL'] = server.getConnectionUri();
      try {
        await using database = await templateDatabase();
        await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
        const golden = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8');
        expect(golden).toContain(await describeSchema(pool));
      } finally {
        await server.stop();
      }
    },
    TEST_TIMEOUT_MS,
  );
});
