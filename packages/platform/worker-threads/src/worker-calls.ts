import { Fault, messageOf } from '@vitrine/faults/fault';
import { Worker, type Transferable } from 'node:worker_threads';

/** How long a closed thread may take to finish its calls; less than a step of the shutdown. */
const CLOSES_WITHIN_MS = 4_000;

/** The message of a worker thread for one call; see `serveCalls`. */
export type CallResult = { readonly call: number; readonly value: unknown } | { readonly call: number; readonly error: string };

/** Calls to a worker thread and their results. When the thread dies, pending calls are rejected and the next call starts a new thread.
 *  Faults: `worker_failed` (the call threw, or the thread died), `worker_busy` (more than `maxPending` calls in progress). */
export class WorkerCalls implements AsyncDisposable {
  readonly #start: () => Worker;
  readonly #maxPending: number;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #worker: Worker | undefined;
  #calls = 0;
  #isClosed = false;

  constructor(start: () => Worker, maxPending: number) {
    this.#start = start;
    this.#maxPending = maxPending;
  }

  call(argument: unknown, transfer: readonly Transferable[] = []): Promise<unknown> {
    // A late call must not start a thread that is never closed.
    if (this.#isClosed) return Promise.reject(new Fault('worker_failed', { say: 'the worker thread was closed' }));
    if (this.#pending.size >= this.#maxPending) {
      return Promise.reject(new Fault('worker_busy', { say: 'too many calls are waiting for the worker thread' }));
    }
    const call = (this.#calls += 1);
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(call, pending);
    this.#running().postMessage({ call, argument }, transfer);
    return pending.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ close: true });
    // A stuck thread must not prevent the process from ending.
    const late = setTimeout(() => void worker.terminate(), CLOSES_WITHIN_MS);
    await ended;
    clearTimeout(late);
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = this.#start();
    this.#worker = worker;
    worker.on('message', (result: CallResult) => {
      const pending = this.#pending.get(result.call);
      this.#pending.delete(result.call);
      if ('error' in result) pending?.reject(new Fault('worker_failed', { say: result.error }));
      else pending?.resolve(result.value);
    });
    let reason: unknown = 'it was stopped';
    worker.on('error', (error: unknown) => {
      reason = error;
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#pending.values())
        reject(new Fault('worker_failed', { say: `a worker thread ended: ${messageOf(reason)}` }));
      this.#pending.clear();
    });
    return worker;
  }
}
