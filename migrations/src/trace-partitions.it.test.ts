import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';

const DAY_MS = 86_400_000;
let database: TestDatabase;
let pool: PostgresPool;
beforeEach(async () => {
  database = await templateDatabase();
  pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
});
afterEach(async () => {
  await pool[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Runs a statement as the role of a service. */
const as = (role: string, text: string, values: readonly unknown[] = []) =>
  pool.transaction(async (transaction) => {
    await transaction.query(`SET LOCAL ROLE ${role}`);
    return transaction.query(text, values);
  });
const numberOf = async (rows: Promise<object[]>) => Object.values((await rows)[0] ?? {})[0] as number;
const make = (daysAhead: number) => numberOf(as('vitrine_trace_writer', 'SELECT make_trace_partitions($1)', [daysAhead]));
const REMOVE = 'SELECT what, removed FROM remove_old_traces($1)';
const remove = (before: number) => as('vitrine_trace_writer', REMOVE, [new Date(before)]);
const INSERT = `INSERT INTO traces VALUES (gen_random_uuid(), $1, $1, 'o', 'w', 'k', '', 'openai', 'm', 'POST', '/', 200, 'completed',
  1, 2, 3, 'reported', 4, 5, NULL, 0.000000000001, 'priced')`;
const insert = (at: number) => as('vitrine_trace_writer', INSERT, [new Date(at)]);
const partitions = async (of = 'traces') =>
  (
    await pool.query<{ name: string; n: number }>(
      `SELECT c.relname AS name, (SELECT count(*) FROM ${of} AS t WHERE t.tableoid = c.oid) AS n
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass ORDER BY 1`,
      [of],
    )
  ).map(({ name, n }) => [name, n]);
const nameOf = (at: number) => `traces_${new Date(at).toISOString().slice(0, 10).replaceAll('-', '')}`;
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;

test('a service creates the partitions of coming days once', async () => {
  expect([await make(2), await make(2), await make(3)]).toEqual([3, 0, 1]);
  const days = [0, 1, 2, 3].map((n) => [nameOf(today + n * DAY_MS), 0]);
  expect(await partitions()).toEqual([...days, ['traces_default', 0]]);
  expect((await partitions('trace_bodies')).map(([name]) => name)).toHaveLength(5);
});

test('rows written before their partition are moved into it', async () => {
  await insert(today);
  await insert(today + DAY_MS - 1);
  await insert(today + DAY_MS);
  await make(0);
  expect(await partitions()).toEqual([
    [nameOf(today), 2],
    ['traces_default', 1],
  ]);
});

/** Sessions that wait for a lock on this table. */
const waitingFor = (table: string) =>
  numberOf(pool.query('SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND relation = $1::regclass', [table]));

test('a batch written in the meantime is moved, and one that waits for the partition is written into it', async () => {
  const written = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const batch = pool.transaction(async (transaction) => {
    await transaction.execute(INSERT, [new Date(today)]);
    written.resolve();
    await mayCommit.promise;
  });
  await written.promise;
  // As the owner, without the two seconds after which a service gives up and tries again.
  const made = pool.query("SELECT make_trace_partition('traces', $1::date)", [new Date(today).toISOString().slice(0, 10)]);
  await waitUntil(async () => (await waitingFor('traces')) === 1, { what: 'the partition to wait for the batch' });
  const late = insert(today + 1);
  await waitUntil(async () => (await waitingFor('traces')) === 2, { what: 'the later row to wait for the partition' });
  mayCommit.resolve();
  await Promise.all([batch, made, late]);
  expect(await partitions()).toEqual([
    [nameOf(today), 2],
    ['traces_default', 0],
  ]);
});

test('whole days before a time are dropped, the day of the time stays, and old rows without a partition are removed too', async () => {
  const days = [1, 2, 3].map((n) => new Date(today - n * DAY_MS).toISOString().slice(0, 10));
  const parents = "unnest(ARRAY['traces', 'trace_bodies']) AS parent, unnest($1::date[]) AS day";
  await as('vitrine_migrations', `SELECT make_trace_partition(parent, day) FROM ${parents}`, [days]);
  for (const at of [today - 3 * DAY_MS, today - DAY_MS, today - 40 * DAY_MS]) await insert(at);
  expect(await remove(today - DAY_MS + 1)).toEqual([
    { what: 'days of traces', removed: 2 },
    { what: 'traces', removed: 1 },
  ]);
  expect(await remove(today - DAY_MS + 1)).toEqual([]);
  expect(await partitions()).toEqual([
    [nameOf(today - DAY_MS), 1],
    ['traces_default', 0],
  ]);
  expect(await partitions('trace_bodies')).toHaveLength(2);
});

test('one replica works while the others return at once', async () => {
  const made = await Promise.all([1, 2, 3, 4].map(() => make(4)));
  expect(Math.max(...made)).toBe(5);
  expect(made.reduce((sum, n) => sum + n)).toBe(5);
});

test.each([
  ['vitrine_trace_writer', 'DELETE FROM traces'],
  ['vitrine_trace_writer', 'SELECT * FROM gateway_keys'],
  ['vitrine_trace_writer', "SELECT make_trace_partition('traces', current_date)"],
  ['vitrine_gateway', 'DELETE FROM gateway_keys'],
  ['vitrine_gateway', 'DROP TABLE traces_default'],
  ['vitrine_gateway', "UPDATE plans SET limits = '{}'"],
  ['vitrine_operator', 'SELECT * FROM traces'],
  ['vitrine_operator', 'SELECT make_trace_partitions(1)'],
  ['vitrine_operator', 'CREATE TABLE t (a int)'],
  ['vitrine_store_api', 'UPDATE ledger SET unit = unit'],
  ['vitrine_store_api', 'DELETE FROM ledger'],
  ['vitrine_store_api', 'DELETE FROM api_keys'],
  ['vitrine_store_api', 'SELECT * FROM gateway_keys'],
  ['vitrine_store_api', 'INSERT INTO signals SELECT * FROM signals'],
  ['vitrine_enrich', 'UPDATE observations SET facts = facts'],
  ['vitrine_enrich', 'SELECT * FROM api_keys'],
  ['vitrine_enrich', 'SELECT * FROM ledger'],
  ['vitrine_enrich', 'SELECT make_ledger_partitions(1)'],
])('%s may not: %s', async (role, text) => {
  const code = await as(role, text).then(
    () => 'done',
    (error: unknown) => (error as { code: string }).code,
  );
  expect(code).toBe('42501');
});
