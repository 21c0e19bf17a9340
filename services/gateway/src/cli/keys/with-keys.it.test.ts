import { afterEach, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { join } from 'node:path';
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

test.each([
  [
    'ownr',
    'warning: the role "ownr" grants no permission by itself, only those of --permission; owner, admin, developer, member and viewer do\n',
  ],
  ['viewer', ''],
])('a key of the role %s is created, with a warning if the role grants nothing', async (role, warning) => {
  await using folder = await temporaryFolder('roles');
  const env = { SVC_STORAGE_PATH: join(folder.path, 'traces.db') };
  const created = await runCaptured(gatewayCommandLine, ['keys', 'create', '--role', role, '--format', 'json'], { env });
  expect(created).toMatchObject({ code: 0, stderr: warning });
  expect(JSON.parse(created.stdout)).toMatchObject({ role });
});
