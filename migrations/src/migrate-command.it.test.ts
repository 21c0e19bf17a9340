import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import { Secret } from '@vitrine/config/secret';
import { startProcess } from '@vitrine/e2e/running-process';
import { migrate } from '@vitrine/postgres/migrate';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { npmScript } from '@vitrine/testkit/npm-script';
import { emptyDatabase, MIGRATIONS_FOLDER, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { readdirSync } from 'node:fs';
import { migrateCommandLine } from './migrate-command.ts';

const NAMES = readdirSync(MIGRATIONS_FOLDER).map((file) => file.replace('.sql', ''));
let database: TestDatabase;
beforeEach(async () => {
  database = await emptyDatabase();
});
afterEach(async () => database[Symbol.asyncDispose]());

const run = (args: readonly string[], dsn: Secret = database.dsn) =>
  runCaptured(migrateCommandLine(), args, {
    env: { VITRINE_POSTGRES_DSN: dsn.reveal() },
    untilSignal: () => new Promise(() => {}),
  });
const statesOf = (stdout: string) =>
  stdout
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(/ {2,}/).slice(0, 2));
const all = (state: string) => NAMES.map((name) => [name, state]);

test('it runs and prints missing migrations; --check only prints them', async () => {
  const before = await run(['--check']);
  expect([before.code, statesOf(before.stdout)]).toEqual([1, all('missing')]);
  const first = await run([]);
  expect([first.code, statesOf(first.stdout)]).toEqual([0, all('ran now')]);
  expect(Math.abs(Date.parse(first.stdout.trim().split(/ {2,}/).at(-1) ?? '') - Date.now())).toBeLessThan(60_000);
  const second = await run([]);
  expect([second.code, statesOf(second.stdout)]).toEqual([0, all('ran before')]);
  expect((await run(['--check'])).code).toBe(0);
});

test('--check lists each table, column, function, role and right that differs from the migrations', async () => {
  await run([]);
  await using admin = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const broken = [
    ['DROP TABLE login_links', /^missing: CREATE TABLE login_links$/m],
    ['ALTER TABLE plans DROP COLUMN updated_at', /^differs: CREATE TABLE plans lacks updated_at timestamp/m],
    ['ALTER TABLE members ADD COLUMN nickname text', /^differs: CREATE TABLE members has nickname text$/m],
    ['DROP INDEX candidates_by_time', /^missing: CREATE INDEX candidates_by_time /m],
    ['DROP FUNCTION lock_limits(text[])', /^missing: CREATE OR REPLACE FUNCTION public\.lock_limits\(/m],
    [
      'CREATE OR REPLACE FUNCTION trace_partition_lock() RETURNS boolean LANGUAGE sql AS $$ SELECT true $$',
      /^differs: CREATE OR REPLACE FUNCTION public\.trace_partition_lock\(/m,
    ],
    ['DROP TRIGGER plans_updated ON plans', /^missing: CREATE TRIGGER plans_updated/m],
    [
      'ALTER TABLE traces OWNER TO CURRENT_USER',
      /^differs: ALTER TABLE traces OWNER TO \w+ should be ALTER TABLE traces OWNER TO vitrine_migrations$/m,
    ],
    ['REVOKE SELECT ON gateway_keys FROM vitrine_gateway', /^differs: GRANT .* ON gateway_keys TO vitrine_gateway/m],
    ['GRANT SELECT ON gateway_keys TO vitrine_enrich', /^unexpected: GRANT SELECT ON gateway_keys TO vitrine_enrich$/m],
    ['GRANT SELECT ON api_keys TO PUBLIC', /^unexpected: GRANT SELECT ON api_keys TO PUBLIC$/m],
    ['REVOKE USAGE ON SCHEMA public FROM vitrine_operator', /^missing: GRANT USAGE ON SCHEMA public TO vitrine_operator$/m],
  ] as const;
  for (const [statement] of broken) await admin.query(statement);
  const { code, stdout } = await run(['--check']);
  expect(code).toBe(1);
  expect(broken.filter(([, line]) => !line.test(stdout)).map(([statement]) => statement)).toEqual([]);
});

test('--check ignores partitions of days, and rights and indexes of other roles', async () => {
  await run([]);
  await using admin = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  await admin.query('SELECT make_trace_partitions(3), make_ledger_partitions(2)');
  await admin.query('CREATE TABLE reports (id int); CREATE INDEX of_the_owner ON plans (updated_at)', undefined);
  const lines = (await run(['--check'])).stdout.split('\n').filter((line) => /^[a-z]+: /.test(line));
  expect(lines).toEqual([]);
  const [partition] = await admin.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relname ~ '^traces_[0-9]{8}$' LIMIT 1",
  );
  await admin.query(`ALTER TABLE ${partition?.name} OWNER TO CURRENT_USER`);
  expect((await run(['--check'])).stdout).toMatch(new RegExp(`^unexpected: ALTER TABLE ${partition?.name} OWNER TO`, 'm'));
});

test('a database made before 0.1.0 is refused with the next step, but one of a later version is not', async () => {
  await using admin = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  const addMigrations = (names: readonly string[]) =>
    admin.execute('INSERT INTO schema_migrations (name, run_on) SELECT unnest($1::text[]), now()', [names]);
  await run([]);
  await addMigrations(['9999-of-a-later-version']);
  expect((await run([])).code).toBe(0);

  await admin.execute('DELETE FROM schema_migrations');
  await addMigrations(['0001-roles', '0002-traces', '0045-plain-trace-sums']);
  for (const args of [[], ['--check']])
    await expect(run(args)).rejects.toMatchObject({
      code: 'foreign_schema',
      say: expect.stringMatching(/0001-roles.* made before 0\.1\.0 and cannot be upgraded\. Create an empty database/),
    });
  expect(await admin.query('SELECT name FROM schema_migrations')).toHaveLength(3);
});

test('started several times at once, it runs each migration once', async () => {
  const source = { dsn: database.dsn, folder: MIGRATIONS_FOLDER };
  const ran = await Promise.all([1, 2, 3].map(() => migrate(source)));
  expect(ran.flat()).toEqual(NAMES);
});

test('started before its database, it waits, prints the reason and next step, and runs once the database is up', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await proxy.close();
  const { password, port } = new URL(proxy.dsn.reveal());
  const env = { VITRINE_POSTGRES_DSN: proxy.dsn.reveal() };
  await using migration = startProcess({ command: npmScript('migrate'), env });
  const waits = `migrate: waiting for the database (127.0.0.1:${port}): connect ECONNREFUSED 127.0.0.1:${port}; start the database`;
  await waitUntil(() => migration.stderr.includes(waits), { what: waits });
  expect([migration.isRunning, migration.stdout]).toEqual([true, '']);
  await proxy.open();
  expect((await migration.end()).code).toBe(0);
  expect(statesOf(migration.stdout)).toEqual(all('ran now'));
  expect(migration.stderr).toContain('migrate: database reached');
  expect(migration.stdout + migration.stderr).not.toContain(password);
});

test('it ends with an error and its reason when the database stays unavailable', async () => {
  await using proxy = await openTcpProxy(database.dsn);
  await proxy.close();
  await expect(run(['--wait', '0'], proxy.dsn)).rejects.toThrow(/ECONNREFUSED/);
});

test('a user without superuser rights can migrate its own database', async () => {
  const role = `migrator_${database.name}`;
  await using admin = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  await admin.query(`CREATE USER ${role} PASSWORD 'secret-of-test' CREATEROLE`, undefined);
  await admin.query(`ALTER DATABASE ${database.name} OWNER TO ${role}`, undefined);
  // Roles that another user has made may only be granted by who administers them.
  await admin.query(`DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vitrine_migrations')
    THEN GRANT vitrine_migrations TO ${role} WITH ADMIN OPTION; END IF; END $$`);
  const url = new URL(database.dsn.reveal());
  [url.username, url.password] = [role, 'secret-of-test'];
  try {
    expect(statesOf((await run([], new Secret(url.href))).stdout)).toEqual(all('ran now'));
  } finally {
    await admin.query(`DROP OWNED BY ${role}`);
    await admin.query(`ALTER DATABASE ${database.name} OWNER TO CURRENT_USER`);
    await admin.query(`DROP ROLE ${role}`);
  }
});

test('a user that may not create roles can migrate its own database if the roles exist', async () => {
  const role = `owner_${database.name}`;
  await run([]);
  await using empty = await emptyDatabase();
  await using admin = new PostgresPool({ dsn: empty.dsn, applicationName: 'test' });
  await admin.query(`CREATE USER ${role} PASSWORD 'secret-of-test'`);
  await admin.query(`ALTER DATABASE ${empty.name} OWNER TO ${role}`);
  const url = new URL(empty.dsn.reveal());
  [url.username, url.password] = [role, 'secret-of-test'];
  try {
    await expect(run([], new Secret(url.href))).rejects.toThrow(/vitrine_migrations|permission denied/);
    await admin.query(`GRANT vitrine_migrations TO ${role} WITH ADMIN OPTION`);
    expect(statesOf((await run([], new Secret(url.href))).stdout)).toEqual(all('ran now'));
  } finally {
    await admin.query(`DROP OWNED BY ${role}`);
    await admin.query(`ALTER DATABASE ${empty.name} OWNER TO CURRENT_USER`);
    await admin.query(`DROP ROLE ${role}`);
  }
});

test('--wait takes whole seconds, written in digits', async () => {
  const { code, stderr } = await run(['--wait', '1e2']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--wait SECONDS must be a whole number from 0 to 86400')]);
});

test('without a database it is a usage error that names the variable', async () => {
  const { code, stderr } = await runCaptured(migrateCommandLine(), []);
  expect([code, stderr]).toEqual([2, expect.stringContaining('set VITRINE_POSTGRES_DSN, or pass --dsn')]);
});
