import { describe } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import type { ContractStore } from '@vitrine/traces/testing/contract-store';
import { testAgainstScan } from '@vitrine/traces/testing/trace-scan';
import { testTraceStore } from '@vitrine/traces/testing/trace-store-contract';
import type { WriterThread } from '@vitrine/traces/writer-thread';
import { join } from 'node:path';
import { EmbeddedTraceStore, type ReadCalls } from './embedded-trace-store.ts';
import { callReader, SqliteTraceReader, type ReadCall } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';
import { recordWriterOf } from './sqlite-writer-module.ts';
import { FailingDatabase } from './testing/failing-database.ts';

/** The store without its threads, which only forward calls and results. */
async function open(): Promise<ContractStore> {
  const opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder('contract'));
  const path = join(folder.path, 'traces.db');
  const writes = new FailingDatabase(path);
  const writer = opened.use(new SqliteTraceWriter(path, () => writes));
  const reads = new FailingDatabase(path, { readOnly: true });
  const reader = opened.use(new SqliteTraceReader(path, () => reads));
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

describe('an SQLite store', () => {
  testTraceStore(open);
  testAgainstScan(open, 1, 200);
});
