import { Fault } from '@vitrine/faults/fault';

/** Spec: S6.21. */
export const REQUEST_TIMEOUT_MS = 10_000;

/** Ends a request that takes too long or whose client has left, unless it has begun to commit billed units. From then on the response must match
 *  the ledger. Times out once. */
export class RequestDeadline implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #over = Promise.withResolvers<never>();
  #reason: Fault | undefined;
  #isCommitting = false;

  constructor(timeoutMs: number = REQUEST_TIMEOUT_MS) {
    this.#timer = setTimeout(() => this.#end(tooLate(timeoutMs)), timeoutMs);
    // Without a waiter a rejection would be uncaught.
    this.#over.promise.catch(() => {});
  }

  /** Whether the request ended before its work. */
  get isOver(): boolean {
    return this.#reason !== undefined;
  }

  clientLeft(): void {
    if (!this.#isCommitting) this.#end(new Fault('client_left', { say: 'the client closed its connection' }));
  }

  /** Faults: `deadline_exceeded`, `client_left`. */
  beginCommit(): void {
    if (this.#reason !== undefined) throw this.#reason;
    this.#isCommitting = true;
    clearTimeout(this.#timer);
  }

  /** The result of `work`, which continues if the request ends first. Faults: `deadline_exceeded`, `client_left`. */
  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#over.promise]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #end(reason: Fault): void {
    clearTimeout(this.#timer);
    this.#reason ??= reason;
    this.#over.reject(this.#reason);
  }
}

/** The fault of a request that took too long. */
export function tooLate(timeoutMs: number, cause?: unknown): Fault {
  return new Fault('deadline_exceeded', {
    say: `the request took longer than ${timeoutMs / 1_000} s; nothing was billed`,
    cause,
  });
}
