import { Fault } from '@vitrine/faults/fault';

/** Makes calls one at a time, in order, so that a thread with other work can do some of it in between.
 *  Faults: `worker_busy` (more than `maxWaiting` calls wait), `worker_failed` (the queue was closed). */
export class CallQueue implements AsyncDisposable {
  readonly #call: (argument: unknown) => Promise<unknown>;
  readonly #maxWaiting: number;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  constructor(call: (argument: unknown) => Promise<unknown>, maxWaiting: number) {
    this.#call = call;
    this.#maxWaiting = maxWaiting;
  }

  call(argument: unknown): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Fault('worker_failed', { say: 'the worker thread was closed' }));
    if (this.#waiting >= this.#maxWaiting)
      return Promise.reject(new Fault('worker_busy', { say: 'too many calls are waiting for the worker thread' }));
    this.#waiting += 1;
    const result = this.#last.then(() => this.#call(argument)).finally(() => (this.#waiting -= 1));
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when the calls in progress are finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }
}
