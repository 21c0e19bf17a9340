import { Fault, messageOf } from '@vitrine/faults/fault';
import type { RetentionRun } from '@vitrine/lifecycle/retention-clock';
import type { Removed } from '@vitrine/telemetry/retention-log';
import { WorkerCalls } from '@vitrine/worker-threads/worker-calls';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DayUsage } from '@vitrine/traces/day-usage';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { tooManyGroups, type Measure, type MeasureQuery } from '@vitrine/traces/trace-measures';
import type { AncestorQuery, CheckpointQuery, OwnedTraceStore, StoreSummary, TraceQuery } from '@vitrine/traces/trace-store';
import type { Checkpoint, TraceDetail, TracePage } from '@vitrine/traces/trace';
import type { WriterSource, WriterThread } from '@vitrine/traces/writer-thread';
import { foreignFile } from '@vitrine/sqlite/database-file';
import { lockFile } from '@vitrine/sqlite/file-lock';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import { measuresIn } from './measure-table.ts';
import type { ReadCall, ReadMethod, SqliteTraceReader } from './sqlite-trace-reader.ts';
import { TRACE_FILE } from './trace-tables.ts';
import type { WriterCall } from './sqlite-writer-module.ts';

const MAX_PENDING_READS = 64;
/** Queries are rare, and the default of 48 MiB would stay allocated between them. */
const YOUNG_GENERATION_MB = 12;

/** The writer of the store at `path`, opened on the thread passed to its store. */
export function sqliteWriter(path: string): WriterSource {
  return { module: new URL('./sqlite-writer-module.ts', import.meta.url).href, options: { path } };
}

/** Opens the store of a single machine: one SQLite file, written on the thread `writes`, which must run `sqliteWriter(path)` and is then
 *  owned by the store, and read on another, started by the first query.
 *  Faults: `storage_locked`, `storage_unusable`. */
export async function openEmbeddedTraceStore(path: string, writes: WriterThread): Promise<EmbeddedTraceStore> {
  prepareFile(path);
  await using opened = new AsyncDisposableStack();
  opened.use(lockFile(path));
  opened.use(writes);
  // The first call opens the file.
  await writes.callWriter({ removeOlderThan: 0, sums: 0 } satisfies WriterCall).catch((cause: unknown) => {
    throw unusable(path, cause);
  });
  return new EmbeddedTraceStore(path, writes, opened.move());
}

/** Checked before a lock is created beside the file, and before SQLite writes our settings to it. */
function prepareFile(path: string): void {
  try {
    makeFolder(dirname(path));
  } catch (cause) {
    throw unusable(path, cause);
  }
  const foreign = foreignFile(path, TRACE_FILE);
  if (foreign !== undefined) throw unusable(path, foreign);
}

function unusable(path: string, cause: unknown): Fault {
  return new Fault('storage_unusable', { say: `${path} cannot be opened: ${messageOf(cause)}`, cause });
}

/** Calls of a thread that reads the file. */
export type ReadCalls = Pick<WorkerCalls, 'call'> & AsyncDisposable;

function startReader(path: string): ReadCalls {
  const url = new URL('./trace-read-worker.ts', import.meta.url);
  const options = { workerData: { path }, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB } };
  return new WorkerCalls(() => new Worker(url, options), MAX_PENDING_READS);
}

/** See `openEmbeddedTraceStore`. */
export class EmbeddedTraceStore implements OwnedTraceStore {
  readonly driver = 'sqlite';
  readonly #path: string;
  readonly #writes: WriterThread;
  /** The lock, and the thread that writes. */
  readonly #file: AsyncDisposable;
  readonly #reads: ReadCalls;

  constructor(path: string, writes: WriterThread, file: AsyncDisposable, reads: ReadCalls = startReader(path)) {
    this.#path = path;
    this.#writes = writes;
    this.#file = file;
    this.#reads = reads;
  }

  /** By the clock of this machine. */
  async advanceRetention(): Promise<RetentionRun> {
    return (await this.#writes.callWriter({ advanceRetention: true } satisfies WriterCall).catch(unavailable)) as RetentionRun;
  }

  async removeOlderThan(createdBeforeMs: number, sumsBeforeMs: number = 0): Promise<Removed[]> {
    const call: WriterCall = { removeOlderThan: createdBeforeMs, sums: sumsBeforeMs };
    return (await this.#writes.callWriter(call).catch(unavailable)) as Removed[];
  }

  async probe(): Promise<void> {
    await this.#writes.callWriter({ probe: true } satisfies WriterCall);
  }

  list(query: TraceQuery): Promise<TracePage> {
    return this.#read('list', query);
  }

  get(id: string, tenant?: Tenant): Promise<TraceDetail | undefined> {
    return this.#read('get', id, tenant);
  }

  async measure(query: MeasureQuery): Promise<Measure[]> {
    const table = await this.#read('measure', query);
    if (table === undefined) throw tooManyGroups();
    return measuresIn(table);
  }

  /** Read on the writing thread, between two batches, so that they do not wait behind a list, which may take seconds. Requests are rejected when
   *  the totals are late. */
  async quotaTotals(day: string): Promise<DayUsage[]> {
    const call: WriterCall = { quotaTotals: day };
    return (await this.#writes.callWriter(call).catch(unavailable)) as DayUsage[];
  }

  checkpoints(query: CheckpointQuery): Promise<Checkpoint[]> {
    return this.#read('checkpoints', query);
  }

  ancestors(query: AncestorQuery): Promise<Checkpoint[]> {
    return this.#read('ancestors', query);
  }

  get knownSummary(): StoreSummary {
    const [file, log] = [sizeOf(this.#path), sizeOf(`${this.#path}-wal`)];
    const sizeBytes = file === undefined || log === undefined ? undefined : file + log;
    return { driver: this.driver, traceCount: this.#writes.traceCount, sizeBytes };
  }

  async summary(): Promise<StoreSummary> {
    return this.knownSummary;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reads[Symbol.asyncDispose]();
    await this.#file[Symbol.asyncDispose]();
  }

  async #read<M extends ReadMethod>(
    method: M,
    ...args: Parameters<SqliteTraceReader[M]>
  ): Promise<ReturnType<SqliteTraceReader[M]>> {
    const call: ReadCall = { method, args };
    return (await this.#reads.call(call).catch(unavailable)) as ReturnType<SqliteTraceReader[M]>;
  }
}

function unavailable(cause: unknown): never {
  throw new Fault('trace_store_unavailable', { say: 'trace store is unavailable', log: { reason: messageOf(cause) }, cause });
}

/** Undefined when it cannot be read, such as in a folder that is no longer readable. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return undefined;
  }
}
