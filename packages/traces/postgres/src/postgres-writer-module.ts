// Opens a writer on the thread that derives records: a `WriterModule`.
import { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { OpenRecordWriter } from '@vitrine/traces/writer-thread';
import type { PostgresWriterOptions } from './postgres-trace-store.ts';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';

export function openRecordWriter(options: unknown): OpenRecordWriter {
  const { dsn, ...rest } = options as PostgresWriterOptions;
  const pool = new PostgresPool({ ...rest, dsn: new Secret(dsn) });
  const writer = new PostgresTraceWriter(pool);
  return {
    write: (records) => writer.write(records),
    close: () => pool[Symbol.asyncDispose](),
  };
}
