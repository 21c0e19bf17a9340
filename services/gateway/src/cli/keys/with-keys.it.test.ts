import { afterEach, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { gatewayCommandLine } from '../registry.ts';

const clock = Date.now;
afterEach(() => void (Date.now = clock));

test('a command whose clock is 40 days ahead dates keys and events by the clock of the database', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const env = {
    SVC_AUTH_ENABLED: 'true',
    SVC_AUTH_PEPPERS: `1:${'p'.repeat(32)}`,
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: database.dsn.reveal(),
  };
  Date.now = () => clock() + 40 * 86_400_000;
  expect((await runCaptured(gatewayCommandLine, ['keys', 'create'], { env })).code).toBe(0);
  const later = await pool.query(`SELECT 1 FROM gateway_keys WHERE created_at > now() + interval '1 h'
    UNION ALL SELECT 1 FROM audit_events WHERE at > now() + interval '1 h'`);
  expect(later).toEqual([]);
});
