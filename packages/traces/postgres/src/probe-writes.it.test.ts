import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { ONE } from '@vitrine/traces/testing/contract-store';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';
import { probeWrites } from './probe-writes.ts';

let database: TestDatabase;
let opened: AsyncDisposableStack;
let owner: PostgresPool;
beforeAll(async () => {
  opened = new AsyncDisposableStack();
  database = opened.use(await templateDatabase());
  owner = opened.use(new PostgresPool({ dsn: database.dsn, applicationName: 'test' }));
});
afterAll(async () => opened.disposeAsync());

const writerOf = (role: string) => {
  const url = new URL(database.dsn.reveal());
  url.searchParams.set('options', `-c role=${role}`);
  return opened.use(new PostgresPool({ dsn: new Secret(url.href), applicationName: 'test', maxConnections: 1 }));
};

/** Tables of traces and their rows, partitions of their parents. */
async function rowCounts(): Promise<Map<string, number>> {
  const tables = await owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace`,
  );
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const [row] = await owner.query<{ n: number }>(`SELECT count(*) AS n FROM ${name}`);
    counts.set(name, row?.n ?? 0);
  }
  return counts;
}

test.each(['vitrine_gateway', 'vitrine_trace_writer'])(
  'a probe of %s writes nothing that stays, and fails with each table that a trace is written to',
  async (role) => {
    const pool = writerOf(role);
    const before = await rowCounts();
    await probeWrites(pool);
    expect(await rowCounts()).toEqual(before);
    await new PostgresTraceWriter(owner).write([plainTrace(Date.now(), { scope: { ...ONE, org_id: role } })]);
    const written = [...(await rowCounts())].filter(([name, count]) => count > (before.get(name) ?? 0)).map(([name]) => name);
    expect(written).toEqual(expect.arrayContaining(['traces', 'trace_bodies', 'day_usage']));
    for (const table of written) {
      await owner.execute(`REVOKE INSERT ON ${table} FROM ${role}`);
      await expect(probeWrites(pool)).rejects.toMatchObject({ code: '42501' });
      await owner.execute(`GRANT INSERT ON ${table} TO ${role}`);
    }
    await probeWrites(pool);
  },
);
