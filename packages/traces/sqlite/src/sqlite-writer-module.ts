// Opens the store's writer on the derivation thread: a `WriterModule`.
import type { OpenRecordWriter } from '@vitrine/traces/writer-thread';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

/** Calls of the store to its writer. */
export type WriterCall =
  | { readonly removeOlderThan: number; readonly sums: number }
  | { readonly advanceRetention: true }
  | { readonly probe: true }
  | { readonly quotaTotals: string };

export function openRecordWriter(options: unknown): OpenRecordWriter {
  const { path } = options as { readonly path: string };
  return recordWriterOf(new SqliteTraceWriter(path), () => new SqliteTraceReader(path));
}

/** A writer with the calls of its store; `openReader` is called for the first totals. */
export function recordWriterOf(
  writer: SqliteTraceWriter,
  openReader: () => SqliteTraceReader,
): OpenRecordWriter & Required<Pick<OpenRecordWriter, 'call'>> {
  let reader: SqliteTraceReader | undefined;
  return {
    write: (records) => writer.write(records),
    get traceCount() {
      return writer.traceCount;
    },
    call: (argument) => {
      const call = argument as WriterCall;
      if ('probe' in call) return writer.probe();
      if ('advanceRetention' in call) return writer.advanceRetention(Date.now());
      if ('removeOlderThan' in call) return writer.removeOlderThan(call.removeOlderThan, call.sums);
      reader ??= openReader();
      return reader.quotaTotals(call.quotaTotals);
    },
    close() {
      reader?.[Symbol.dispose]();
      writer[Symbol.dispose]();
    },
  };
}
