import type { RecordWriter } from './record-writer.ts';

/** The writer that a thread opens. */
export interface WriterSource {
  /** URL of a `WriterModule`. */
  readonly module: string;
  /** Argument of `openRecordWriter`, passed to the thread as a structured clone. */
  readonly options: unknown;
}

export interface WriterModule {
  readonly openRecordWriter: (options: unknown) => OpenRecordWriter | Promise<OpenRecordWriter>;
}

/** A writer as its module opens it. */
export interface OpenRecordWriter extends RecordWriter {
  /** Records in the store, if the writer counts them. */
  readonly traceCount?: number;
  /** Calls of its store other than writing, such as retention; see `WriterThread`. */
  call?(argument: unknown): unknown;
  close(): void | Promise<void>;
}

/** A store's interface to the thread of its writer. The first call starts the thread. */
export interface WriterThread extends AsyncDisposable {
  /** As of the last response; 0 before that. */
  readonly traceCount: number;
  /** Resolves with the result of the writer's `call`. Faults: `worker_failed`, `worker_busy`. */
  callWriter(argument: unknown): Promise<unknown>;
}
