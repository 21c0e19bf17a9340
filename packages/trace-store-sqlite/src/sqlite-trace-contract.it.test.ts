import { describe } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { testTraceStore, type ContractStore } from '@vitrine/traces/testing/trace-store-contract';
import { join } from 'node:path';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';
import { FailingDatabase } from './testing/failing-database.ts';

/** The store without its threads, which pass on calls and results. */
async function open(journal: { traces: number; batches: number }, failAt?: number): Promise<ContractStore> {
  const opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder('contract'));
  const path = join(folder.path, 'traces.db');
  let database: FailingDatabase | undefined;
  const writer = opened.use(new SqliteTraceWriter(path, journal, (file) => (database = new FailingDatabase(file))));
  const reader = opened.use(new SqliteTraceReader(path));
  if (failAt !== undefined) database?.arm(failAt);
  return {
    writer,
    store: {
      list: async (query) => reader.list(query),
      get: async (id, tenant) => reader.get(id, tenant),
      checkpoints: async (query) => reader.checkpoints(query),
      ancestors: async (query) => reader.ancestors(query),
      summary: async () => ({ driver: 'sqlite', traceCount: writer.traceCount, sizeBytes: undefined }),
      measure: async (query) => reader.measure(query) ?? [],
      quotaTotals: async (day) => reader.quotaTotals(day),
      removeOlderThan: async (created, rollups) => writer.removeOlderThan(created, rollups),
    },
    get hasFailed() {
      return database?.hasFailed ?? false;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describe('an SQLite store that keeps its journal', () =>
  testTraceStore((failAt) => open({ traces: 1_000, batches: 100 }, failAt)));
describe('one that adds its journal to the roll-ups at once', () =>
  testTraceStore((failAt) => open({ traces: 1, batches: 1 }, failAt)));
