import type { RecordWriter } from './record-writer.ts';

/** Where a thread finds the writer that it is to open. */
export interface WriterSource {
  /** URL of a `WriterModule`. */
  readonly module: string;
  /** For `openRecordWriter`; crosses to the thread as a structured clone. */
  readonly options: unknown;
}

export interface WriterModule {
  readonly openRecordWriter: (options: unknown) => OpenRecordWriter | Promise<OpenRecordWriter>;
}

/** A writer as its module opens it. */
export interface OpenRecordWriter extends RecordWriter {
  /** Records in the store, if the writer counts them. */
  readonly traceCount?: number;
  /** Calls of its store beside writing, such as retention; see `WriterThread`. */
  call?(argument: unknown): unknown;
  close(): void | Promise<void>;
}

/** The thread on which a store's writer runs, as the store sees it. It is started by its first call. */
export interface WriterThread extends AsyncDisposable {
  /** As of the last response; 0 before that. */
  readonly traceCount: number;
  /** Resolves with what `call` of the writer returns. Faults: `worker_failed`, `worker_busy`. */
  callWriter(argument: unknown): Promise<unknown>;
}
