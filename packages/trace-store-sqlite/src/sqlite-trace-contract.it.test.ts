import { describe } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import type { ContractStore } from '@vitrine/traces/testing/contract-store';
import { testAgainstScan } from '@vitrine/traces/testing/trace-scan';
import { testTraceStore } from '@vitrine/traces/testing/trace-store-contract';
import type { WriterThread } from '@vitrine/traces/writer-thread';
import { join } from 'node:path';
import { EmbeddedTraceStore, type ReadCalls } from './embedded-trace-store.ts';
import { callReader, type ReadCall } from './read-call.ts';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';
import { recordWriterOf } from './sqlite-writer-module.ts';
import { FailingDatabase } from './testing/failing-database.ts';

/** The store without its threads, which pass on calls and results. */
async function open(journal: { traces: number; batches: number }, fewOfStatus?: number): Promise<ContractStore> {
  const opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder('contract'));
  const path = join(folder.path, 'traces.db');
  const writes = new FailingDatabase(path);
  const writer = opened.use(new SqliteTraceWriter(path, journal, () => writes));
  const reads = new FailingDatabase(path, { readOnly: true });
  const reader = opened.use(new SqliteTraceReader(path, fewOfStatus, () => reads));
  const records = recordWriterOf(writer, () => reader);
  const writerCalls: WriterThread = {
    get traceCount() {
      return writer.traceCount;
    },
    callWriter: async (call) => records.call(call),
    async [Symbol.asyncDispose]() {},
  };
  const readerCalls: ReadCalls = {
    call: async (call) => callReader(reader, call as ReadCall),
    async [Symbol.asyncDispose]() {},
  };
  const store = new EmbeddedTraceStore(path, writerCalls, writerCalls, readerCalls);
  return { writer, store, writes, reads, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describe('an SQLite store that keeps its journal', () => testTraceStore(() => open({ traces: 1_000, batches: 100 })));
describe('one that adds its journal to the roll-ups at once', () => testTraceStore(() => open({ traces: 1, batches: 1 })));
describe('an SQLite store, whatever its journal, with and without the index of statuses,', () =>
  testAgainstScan(
    (variant) => open({ traces: [1, 20, 1_000][variant >> 1] ?? 1, batches: 3 }, variant % 2 === 0 ? 0 : 1_000),
    6,
    200,
  ));
