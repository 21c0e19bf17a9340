import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { keepRetention } from '@vitrine/traces/retention';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { openPostgresTraceStore, type PostgresTraceStore } from './postgres-trace-store.ts';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let opened: AsyncDisposableStack;
let database: TestDatabase;
let pool: PostgresPool;
let store: PostgresTraceStore;
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  database = opened.use(await templateDatabase());
  pool = opened.use(new PostgresPool({ dsn: database.dsn, applicationName: 'test' }));
  store = opened.use(openPostgresTraceStore({ dsn: database.dsn, applicationName: 'test' }));
});
afterEach(async () => {
  Date.now = realNow;
  await opened.disposeAsync();
});

const realNow = Date.now;
const NOW = Date.now();
const today = Math.floor(NOW / DAY_MS) * DAY_MS;
const textOf = (ms: number) => new Date(ms).toISOString();

/** A trace at noon, this many days ago, with the partition of its day. */
async function addTraces(...daysAgo: number[]): Promise<void> {
  const parents = "unnest(ARRAY['traces', 'trace_bodies']) AS parent, unnest($1::date[]) AS day";
  const days = daysAgo.map((days) => textOf(today - days * DAY_MS).slice(0, 10));
  await pool.transaction(async (transaction) => {
    await transaction.query('SET LOCAL ROLE vitrine_migrations');
    await transaction.query(`SELECT make_trace_partition(parent, day) FROM ${parents}`, [days]);
  });
  const records = daysAgo.map((days) => plainTrace(today - days * DAY_MS + DAY_MS / 2));
  await new PostgresTraceWriter(pool).write(records);
}
const daysKept = async () =>
  (await store.list({ limit: 99 })).items.map(({ timestamp }) =>
    Math.round((today + DAY_MS / 2 - Date.parse(timestamp)) / DAY_MS),
  );
const setLastRun = (at: number) =>
  pool.execute(`INSERT INTO retention_runs VALUES ('traces', $1, $1) ON CONFLICT (name) DO UPDATE SET at = $1, ran_at = $1`, [
    new Date(at),
  ]);

/** Runs the maintenance loop of a process `passes` times. Resolves with its log. */
async function runLoop(passes = 2): Promise<readonly { readonly message: string; readonly fields: object }[]> {
  const lines: { message: string; fields: object }[] = [];
  const log = (fields: object, message: string) => void lines.push({ message, fields });
  const failures: unknown[] = [];
  let ran = 0;
  const counted = {
    advanceRetention: () => store.advanceRetention(),
    removeOlderThan: async (...times: Parameters<PostgresTraceStore['removeOlderThan']>) => {
      const removed = await store.removeOlderThan(...times);
      if (removed.length === 0) ran += 1;
      return removed;
    },
  };
  const options = { retentionDays: 30, logger: { info: log, warn: log }, onError: (error: unknown) => void failures.push(error) };
  using _ = keepRetention(counted, { ...options, intervalMs: 5 });
  await waitUntil(() => ran >= passes || failures.length > 0, { what: 'passes of retention' });
  expect(failures.map((failure) => (failure as Error).cause)).toEqual([]);
  return lines;
}

test('a process whose clock is 40 days ahead removes nothing that is too young by the clock of the database', async () => {
  await addTraces(0, 10, 29);
  Date.now = () => NOW + 40 * DAY_MS;
  const lines = await runLoop();
  expect(await daysKept()).toEqual([0, 10, 29]);
  expect(lines).toEqual([]);
});

test('the daily run removes older traces, and logs their number and range', async () => {
  await addTraces(0, 29, 31, 40);
  await setLastRun(NOW - 60_000);
  await pool.execute(
    `INSERT INTO day_usage SELECT $1::date, 'o', 'w', 'k', 1, 1, 1 UNION ALL SELECT $2::date, 'o', 'w', 'k', 1, 1, 1`,
    [textOf(today - 401 * DAY_MS).slice(0, 10), textOf(today - 399 * DAY_MS).slice(0, 10)],
  );
  const lines = await runLoop();
  expect(await daysKept()).toEqual([0, 29]);
  expect(lines).toEqual([
    {
      message: 'old data removed',
      fields: { what: 'days of traces', count: 2, oldest: textOf(today - 40 * DAY_MS), newest: textOf(today - 30 * DAY_MS) },
    },
    {
      message: 'old data removed',
      fields: { what: 'day_usage', count: 1, oldest: textOf(today - 401 * DAY_MS), newest: textOf(today - 401 * DAY_MS) },
    },
  ]);
});

// A trace that looks 40 days old to a clock that jumped by 40 days was just created.
test('a database whose clock jumps 40 days ahead loses two days of traces, and the log says so', async () => {
  await addTraces(40, 45, 66, 69);
  await setLastRun(NOW - 40 * DAY_MS);
  const lines = await runLoop(5);
  expect(await daysKept()).toEqual([40, 45, 66]);
  expect(lines.map(({ message }) => message)).toEqual(['retention held back', 'old data removed']);
  expect(lines[0]?.fields).toMatchObject({ next_step: expect.stringContaining('#retention-that-is-held-back') });
  // A process that starts in the meantime removes no more within the hour.
  await using second = openPostgresTraceStore({ dsn: database.dsn, applicationName: 'test' });
  const { at, ranAt } = await second.advanceRetention();
  expect((ranAt - at) / DAY_MS).toBeGreaterThan(37.9);
});

test('a database without a stored run, such as one of an earlier version, starts at its newest trace', async () => {
  await addTraces(40, 45, 66, 75);
  await runLoop();
  expect(await daysKept()).toEqual([40, 45, 66]);
});

test('a database that was off for 40 days catches up two days an hour', async () => {
  await addTraces(0, 29, 31, 35, 60);
  let kept: number[] = [];
  for (let hour = 0; hour < 21; hour += 1) {
    // Runs of a process that starts after an hour each.
    await setLastRun(NOW - (40 - 2 * hour) * DAY_MS);
    await pool.execute(`UPDATE retention_runs SET ran_at = ran_at - interval '1 hour'`);
    await using fresh = openPostgresTraceStore({ dsn: database.dsn, applicationName: 'test' });
    const { at } = await fresh.advanceRetention();
    while ((await fresh.removeOlderThan(at - 30 * DAY_MS)).length > 0);
    kept = await daysKept();
    expect(kept).toEqual([0, 29, 31, 35, 60].filter((days) => days * DAY_MS < NOW - at + 31 * DAY_MS));
  }
  expect(kept).toEqual([0, 29]);
});
