import { Fault, messageOf } from '@vitrine/faults/fault';
import { WorkerCalls } from '@vitrine/worker-threads/worker-calls';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DayUsage } from '@vitrine/traces/day-usage';
import type { CapturePolicy } from '@vitrine/trace-derivation/capture-policy';
import type { BatchMemory, ExchangeBatch } from '@vitrine/trace-derivation/exchange-batch';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { PriceOverride } from '@vitrine/trace-derivation/price-catalogue';
import { DAY_MS, type AnalyticsQuery, type TraceAnalytics } from '@vitrine/traces/trace-analytics';
import type { BatchResult, TraceSink } from '@vitrine/trace-derivation/trace-sink';
import type { AncestorQuery, CheckpointQuery, StoreSummary, TraceQuery, TraceStore } from '@vitrine/traces/trace-store';
import type { Checkpoint, TraceDetail, TracePage } from '@vitrine/traces/trace';
import { foreignFile } from '@vitrine/sqlite/database-file';
import { lockFile } from '@vitrine/sqlite/file-lock';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import type { ReadWorkerCall } from './trace-read-worker.ts';
import { TRACE_FILE } from './trace-tables.ts';
import type { WriteWorkerCall, WriteWorkerData } from './trace-write-worker.ts';

/** Roll-ups and quotas outlive their traces. Spec: gateway decisions, section 6. */
const ROLLUPS_KEPT_DAYS = 400;
const MAX_PENDING_READS = 64;
const MAX_PENDING_QUOTAS = 4;
const MAX_PENDING_WRITES = 4;

export interface EmbeddedTraceStoreOptions {
  readonly path: string;
  readonly policy: CapturePolicy;
  readonly priceOverride: PriceOverride | undefined;
  /** Whether writing tells of tokens; it does not unless told. */
  readonly reportsTokens?: boolean;
  /** Whether it tells what was added to the days of keys; it does not unless told. */
  readonly reportsUsage?: boolean;
}

/** Opens the store of a single machine: one SQLite file, written by one worker thread and read by two others, one of them for quota
 *  totals only; each is started by its first question. Faults: `storage_locked`, `storage_unusable`. */
export async function openEmbeddedTraceStore(options: EmbeddedTraceStoreOptions): Promise<EmbeddedTraceStore> {
  const { path } = options;
  try {
    makeFolder(dirname(path));
  } catch (cause) {
    throw new Fault('storage_unusable', { say: `${path} cannot be opened: ${messageOf(cause)}`, cause });
  }
  // Before a lock is made beside it, and before SQLite writes to it what every file of ours has.
  const foreign = foreignFile(path, TRACE_FILE);
  if (foreign !== undefined) throw new Fault('storage_unusable', { say: `${path} cannot be opened: ${foreign}` });
  const lock = lockFile(path);
  const store = new EmbeddedTraceStore(options, lock);
  try {
    await store.removeOlderThan(0);
    return store;
  } catch (cause) {
    await store[Symbol.asyncDispose]();
    throw new Fault('storage_unusable', { say: `${path} cannot be opened: ${messageOf(cause)}`, cause });
  }
}

/** See `openEmbeddedTraceStore`. */
export class EmbeddedTraceStore implements TraceStore, TraceAnalytics, TraceSink, AsyncDisposable {
  readonly driver = 'sqlite';
  readonly #path: string;
  readonly #lock: Disposable;
  readonly #writes: WorkerCalls;
  readonly #reads: WorkerCalls;
  readonly #quotas: WorkerCalls;
  #traceCount = 0;

  constructor(options: EmbeddedTraceStoreOptions, lock: Disposable) {
    const { path, policy, priceOverride, reportsTokens = false, reportsUsage = false } = options;
    this.#path = path;
    this.#lock = lock;
    const writeData: WriteWorkerData = { path, policy, priceOverride, reportsTokens, reportsUsage };
    const startWriter = () => new Worker(new URL('./trace-write-worker.ts', import.meta.url), { workerData: writeData });
    const startReader = () => new Worker(new URL('./trace-read-worker.ts', import.meta.url), { workerData: { path } });
    this.#writes = new WorkerCalls(startWriter, MAX_PENDING_WRITES);
    this.#reads = new WorkerCalls(startReader, MAX_PENDING_READS);
    // Requests are refused when quota totals are late, so they wait for nobody's questions: a list may take seconds.
    this.#quotas = new WorkerCalls(startReader, MAX_PENDING_QUOTAS);
  }

  async write(batch: ExchangeBatch): Promise<BatchResult> {
    const packed = batch.pack();
    const call: WriteWorkerCall = { packed };
    const answer = await this.#writes.call(call, [packed.bytes.buffer, packed.numbers.buffer]);
    const { traceCount, memory, ...result } = answer as BatchResult & { traceCount: number; memory: BatchMemory };
    this.#traceCount = traceCount;
    // A Buffer comes back from another thread as a plain Uint8Array.
    return { ...result, memory: { numbers: memory.numbers, bytes: Buffer.from(memory.bytes.buffer) } };
  }

  /** Removes some of the traces made before a moment, oldest first; answers how many. To be called until it answers 0, when also the
   *  roll-ups of what began before `rollupsBeforeMs` are gone. */
  async removeOlderThan(createdBeforeMs: number, rollupsBeforeMs: number = 0): Promise<number> {
    const call: WriteWorkerCall = { removeOlderThan: createdBeforeMs, rollups: rollupsBeforeMs };
    const { removed, traceCount } = (await this.#writes.call(call)) as { removed: number; traceCount: number };
    this.#traceCount = traceCount;
    return removed;
  }

  /** Rejects when traces could not be written now. */
  async probe(): Promise<void> {
    await this.#writes.call({ probe: true } satisfies WriteWorkerCall);
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
    throw new Fault('too_many_groups', { say: 'the answer has too many rows: narrow from, to, provider or model' });
  }

  /** What every key used on a UTC day (`YYYY-MM-DD`), by the `created_at` of its traces; keys without traces are left out. */
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
    return { driver: this.driver, traceCount: this.#traceCount, sizeBytes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#reads[Symbol.asyncDispose](), this.#quotas[Symbol.asyncDispose]()]);
    await this.#writes[Symbol.asyncDispose]();
    this.#lock[Symbol.dispose]();
  }

  async #read(call: ReadWorkerCall, worker: WorkerCalls = this.#reads): Promise<unknown> {
    try {
      return await worker.call(call);
    } catch (cause) {
      throw new Fault('trace_store_unavailable', { say: 'trace store is unavailable', log: { reason: messageOf(cause) }, cause });
    }
  }
}

/** The store's one maintenance loop: every `intervalMs` it removes traces older than `retentionDays` and roll-ups older than 400 days,
 *  a little at a time. */
export function keepRetention(
  store: EmbeddedTraceStore,
  retentionDays: number,
  report: (error: unknown) => void,
  intervalMs: number = 60_000,
): Disposable {
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    const [traces, rollups] = [retentionDays, ROLLUPS_KEPT_DAYS].map((days) => Date.now() - days * DAY_MS);
    const removeAll = async () => {
      while ((await store.removeOlderThan(traces ?? 0, rollups)) > 0);
    };
    removeAll()
      .catch(report)
      .finally(() => (running = false));
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Undefined when the system does not tell, such as of a folder that may not be looked into any more. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return undefined;
  }
}
