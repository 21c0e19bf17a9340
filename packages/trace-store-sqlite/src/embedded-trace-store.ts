import { Fault, messageOf } from '@vitrine/faults/fault';
import { WorkerCalls } from '@vitrine/worker-threads/worker-calls';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DayUsage } from '@vitrine/traces/day-usage';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { AnalyticsQuery } from '@vitrine/traces/trace-analytics';
import type { AncestorQuery, CheckpointQuery, OwnedTraceStore, StoreSummary, TraceQuery } from '@vitrine/traces/trace-store';
import type { Checkpoint, TraceDetail, TracePage } from '@vitrine/traces/trace';
import type { WriterSource, WriterThread } from '@vitrine/traces/writer-thread';
import { foreignFile } from '@vitrine/sqlite/database-file';
import { lockFile } from '@vitrine/sqlite/file-lock';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import type { ReadWorkerCall } from './trace-read-worker.ts';
import { TRACE_FILE } from './trace-tables.ts';
import type { WriterCall } from './sqlite-writer-module.ts';

const MAX_PENDING_READS = 64;
const MAX_PENDING_QUOTAS = 4;

/** The writer of the store at `path`, to be opened on the thread that its store is opened with. */
export function sqliteWriter(path: string): WriterSource {
  return { module: new URL('./sqlite-writer-module.ts', import.meta.url).href, options: { path } };
}

/** Opens the store of a single machine: one SQLite file, written on the thread `writes`, which has to run `sqliteWriter(path)` and is the
 *  store's from then on, and read on two others, one of them for quota totals only. Each is started by its first call.
 *  Faults: `storage_locked`, `storage_unusable`. */
export async function openEmbeddedTraceStore(path: string, writes: WriterThread): Promise<EmbeddedTraceStore> {
  prepareFile(path);
  await using opened = new AsyncDisposableStack();
  opened.use(lockFile(path));
  opened.use(writes);
  const store = new EmbeddedTraceStore(path, writes, opened.move());
  try {
    await store.removeOlderThan(0);
    return store;
  } catch (cause) {
    await store[Symbol.asyncDispose]();
    throw unusable(path, cause);
  }
}

/** Before a lock is made beside the file, and before SQLite writes to it what every file of ours has. */
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

/** See `openEmbeddedTraceStore`. */
export class EmbeddedTraceStore implements OwnedTraceStore {
  readonly driver = 'sqlite';
  readonly #path: string;
  readonly #writes: WriterThread;
  /** The lock, and the thread that writes. */
  readonly #file: AsyncDisposable;
  readonly #reads: WorkerCalls;
  readonly #quotas: WorkerCalls;

  constructor(path: string, writes: WriterThread, file: AsyncDisposable) {
    this.#path = path;
    this.#writes = writes;
    this.#file = file;
    const startReader = () => new Worker(new URL('./trace-read-worker.ts', import.meta.url), { workerData: { path } });
    this.#reads = new WorkerCalls(startReader, MAX_PENDING_READS);
    // Requests are rejected when quota totals are late, so these do not wait behind a list, which may take seconds.
    this.#quotas = new WorkerCalls(startReader, MAX_PENDING_QUOTAS);
  }

  async removeOlderThan(createdBeforeMs: number, rollupsBeforeMs: number = 0): Promise<number> {
    const call: WriterCall = { removeOlderThan: createdBeforeMs, rollups: rollupsBeforeMs };
    return (await this.#writes.callWriter(call)) as number;
  }

  async probe(): Promise<void> {
    await this.#writes.callWriter({ probe: true } satisfies WriterCall);
  }

  async list(query: TraceQuery): Promise<TracePage> {
    return (await this.#read({ list: query })) as TracePage;
  }

  async get(id: string, tenant?: Tenant): Promise<TraceDetail | undefined> {
    return (await this.#read({ get: id, tenant })) as TraceDetail | undefined;
  }

  async answer(question: AnalyticsQuery): Promise<Uint8Array> {
    const answer = (await this.#read({ answer: question })) as Uint8Array | undefined;
    if (answer !== undefined) return answer;
    throw new Fault('too_many_groups', { say: 'the response has too many rows: narrow from, to, provider or model' });
  }

  async quotaTotals(day: string): Promise<DayUsage[]> {
    return (await this.#read({ quotaTotals: day }, this.#quotas)) as DayUsage[];
  }

  async checkpoints(query: CheckpointQuery): Promise<Checkpoint[]> {
    return (await this.#read({ checkpoints: query })) as Checkpoint[];
  }

  async ancestors(query: AncestorQuery): Promise<Checkpoint[]> {
    return (await this.#read({ ancestors: query })) as Checkpoint[];
  }

  async summary(): Promise<StoreSummary> {
    const [file, log] = [sizeOf(this.#path), sizeOf(`${this.#path}-wal`)];
    const sizeBytes = file === undefined || log === undefined ? undefined : file + log;
    return { driver: this.driver, traceCount: this.#writes.traceCount, sizeBytes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#reads[Symbol.asyncDispose](), this.#quotas[Symbol.asyncDispose]()]);
    await this.#file[Symbol.asyncDispose]();
  }

  async #read(call: ReadWorkerCall, worker: WorkerCalls = this.#reads): Promise<unknown> {
    try {
      return await worker.call(call);
    } catch (cause) {
      throw new Fault('trace_store_unavailable', { say: 'trace store is unavailable', log: { reason: messageOf(cause) }, cause });
    }
  }
}

/** Undefined when the system does not say, such as for a folder that may no longer be read. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return undefined;
  }
}
