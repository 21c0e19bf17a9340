// Opens the store's writer on the thread that derives records: a `WriterModule`.
import type { OpenRecordWriter } from '@vitrine/traces/writer-thread';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

/** Calls of the store to its writer. */
export type WriterCall = { readonly removeOlderThan: number; readonly rollups: number } | { readonly probe: true };

export function openRecordWriter(options: unknown): OpenRecordWriter {
  return recordWriterOf(new SqliteTraceWriter((options as { readonly path: string }).path));
}

/** A writer with the calls of its store. */
export function recordWriterOf(writer: SqliteTraceWriter): OpenRecordWriter & Required<Pick<OpenRecordWriter, 'call'>> {
  return {
    write: (batch) => writer.write(batch),
    background: writer.background,
    get traceCount() {
      return writer.traceCount;
    },
    call: (argument) => {
      const call = argument as WriterCall;
      return 'probe' in call ? writer.probe() : writer.removeOlderThan(call.removeOlderThan, call.rollups);
    },
    close: () => writer[Symbol.dispose](),
  };
}
