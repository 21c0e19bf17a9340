import { afterAll, describe } from '@jest/globals';
import type { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import type { ContractStore } from '@vitrine/traces/testing/contract-store';
import { testAgainstScan } from '@vitrine/traces/testing/trace-scan';
import { testTraceStore } from '@vitrine/traces/testing/trace-store-contract';
import { openPostgresTraceStore } from './postgres-trace-store.ts';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';
import { CountedFailures } from './testing/counted-failures.ts';

/** Reading statements of the store outside read-only transactions. All others belong to retention. */
const READ = /^\s*(?:WITH|SELECT (?!make_|drop_)|SET LOCAL cursor|DECLARE|FETCH)/;

/** Databases without partitions and rows. Reused, because creating a database takes far longer than removing its rows. */
const empty: TestDatabase[] = [];
afterAll(async () => {
  for (const database of empty) await database[Symbol.asyncDispose]();
});

/** With partitions for the days of the tests, or without, when all rows are in the default partition. */
async function open(hasPartitions: boolean): Promise<ContractStore> {
  const opened = new AsyncDisposableStack();
  const database = (hasPartitions ? undefined : empty.pop()) ?? (await templateDatabase());
  const { dsn } = database;
  opened.defer(() => (hasPartitions ? database[Symbol.asyncDispose]() : removeRows(database)));
  if (hasPartitions) await makePartitions(dsn);
  const [writes, reads] = [new CountedFailures(), new CountedFailures()];
  const applicationName = 'test';
  const pool = opened.use(new PostgresPool({ dsn, applicationName, beforeStatement: () => writes.statement() }));
  let isReading = false;
  const beforeStatement = (text: string) => {
    isReading ||= text.includes('READ ONLY');
    const failures = isReading || READ.test(text) ? reads : writes;
    isReading &&= text !== 'COMMIT' && text !== 'ROLLBACK';
    failures.statement();
  };
  const store = opened.use(openPostgresTraceStore({ dsn, applicationName, beforeStatement }));
  const writer = new PostgresTraceWriter(pool);
  return { writer, store, writes, reads, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function makePartitions(dsn: Secret): Promise<void> {
  await using pool = new PostgresPool({ dsn, applicationName: 'test' });
  await pool.query(
    `SELECT make_trace_partition(parent, (date '2026-01-02' + day)::date)
     FROM generate_series(0, 14) AS day, unnest(ARRAY['traces', 'trace_bodies']) AS parent`,
  );
}

async function removeRows(database: TestDatabase): Promise<void> {
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test' });
  await pool.query(
    `DELETE FROM traces; DELETE FROM trace_bodies; DELETE FROM trace_hours; UPDATE trace_retention SET removed_before = 'epoch';
     DELETE FROM trace_sums_by_key_hour; DELETE FROM trace_sums_by_key_day;
     DELETE FROM trace_sums_by_model_hour; DELETE FROM trace_sums_by_model_day; DELETE FROM day_usage; DELETE FROM background_responses`,
  );
  empty.push(database);
}

describe('a Postgres store', () => testTraceStore(() => open(false)));
describe('a Postgres store, with partitions and without,', () => testAgainstScan((variant) => open(variant === 1), 2, 15));
