import type { WriterThread } from '@vitrine/traces/writer-thread';
import type { ModuleSource, ModuleThread } from '@vitrine/worker-threads/thread-modules';
import { WorkerCalls } from '@vitrine/worker-threads/worker-calls';
import { Worker } from 'node:worker_threads';
import type { DerivationReports, DerivationResponse, DerivationWorkerCall, DerivationWorkerData } from './derivation-worker.ts';
import type { ExchangeBatch } from './exchange-batch.ts';
import type { BatchResult, TraceSink } from './trace-sink.ts';

/** Three semi-spaces of 8 MiB suffice, because only the batch in progress survives. The default of 48 MiB would only use more memory. */
const YOUNG_GENERATION_MB = 24;
/** One batch at a time is in progress, plus a few calls of the stores that the thread serves. */
const MAX_PENDING = 16;

type DerivationOptions = Omit<DerivationWorkerData, keyof DerivationReports> & Partial<DerivationReports>;

/** The worker thread that derives records from exchanges and writes them. A second thread for writing would need a copy of every record. A batch
 *  that the writer does not keep is a result. Only a thread that ends or is closed rejects. Between batches it serves modules with short calls,
 *  because a thread for each would cost 20 MiB and 50 ms of the start. */
export class DerivationThread implements TraceSink, WriterThread, ModuleThread {
  readonly #calls: WorkerCalls;
  #traceCount = 0;

  constructor(options: DerivationOptions) {
    const workerData: DerivationWorkerData = { reportsUsage: false, reportsTokens: false, ...options };
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
    const start = () => new Worker(new URL('./derivation-worker.ts', import.meta.url), { workerData, resourceLimits });
    this.#calls = new WorkerCalls(start, MAX_PENDING);
  }

  get traceCount(): number {
    return this.#traceCount;
  }

  async write(batch: ExchangeBatch): Promise<BatchResult> {
    const packed = batch.pack();
    const { value, memory } = await this.#call({ packed }, [packed.bytes.buffer]);
    // A Buffer from another thread arrives as a plain Uint8Array.
    return { ...(value as BatchResult), ...(memory && { memory: Buffer.from(memory.buffer) }) };
  }

  async callWriter(argument: unknown): Promise<unknown> {
    return (await this.#call({ writer: argument })).value;
  }

  async callModule(source: ModuleSource, argument: unknown): Promise<unknown> {
    return (await this.#call({ source, argument })).value;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#calls[Symbol.asyncDispose]();
  }

  async #call(call: DerivationWorkerCall, transfer: ArrayBuffer[] = []): Promise<DerivationResponse> {
    const response = (await this.#calls.call(call, transfer)) as DerivationResponse;
    this.#traceCount = response.traceCount;
    return response;
  }
}
