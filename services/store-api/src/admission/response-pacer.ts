import type { EventEmitter } from 'node:events';

/** This many refusals a second are sent at once, including a burst of the same size. Later ones are delayed, so that clients that retry
 *  immediately cannot take the CPU from others: over 1,300 connections, 500 a second made the p95 of others 2.5
 *  times as long, on two cores that the database shares (`npm run bench -- store-api --only crowd`). */
const PER_SECOND = 200;
const BURST = 100;
/** 1,300 connections wait for 6.5 s. */
const MAX_DELAY_MS = 8_000;
const INTERVAL_MS = 1_000 / PER_SECOND;

/** A `ServerResponse`. */
type PacedResponse = EventEmitter & { readonly closed: boolean };

/** Limits the rate of responses that are free for clients. */
export class ResponsePacer {
  readonly #clock: () => number;
  /** Functions that end the wait of each delayed response. */
  readonly #waiting = new Set<() => void>();
  /** When the next response is due. */
  #nextAt = Number.NEGATIVE_INFINITY;
  #isOpen = false;
  #delayed = 0;

  /** `clock`: milliseconds, monotonic. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Responses that were delayed so far. */
  get delayed(): number {
    return this.#delayed;
  }

  /** Resolves when the response may be sent, or has no client any more. */
  pace(response: PacedResponse): Promise<void> {
    const delayMs = this.#isOpen || response.closed ? 0 : this.delayMs();
    if (delayMs === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      clearTimeout(timer);
      response.off('close', end);
      this.#waiting.delete(end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    response.once('close', end);
    this.#waiting.add(end);
    return promise;
  }

  /** Stops delaying, because a stopping process has only 5 s for requests in flight. */
  open(): void {
    this.#isOpen = true;
    for (const end of this.#waiting) end();
  }

  /** Reserves the turn of a response and returns its wait in milliseconds. */
  delayMs(): number {
    const now = this.#clock();
    const dueAt = Math.max(this.#nextAt, now - (BURST - 1) * INTERVAL_MS);
    const delayMs = Math.min(Math.max(0, dueAt - now), MAX_DELAY_MS);
    this.#nextAt = Math.min(dueAt, now + MAX_DELAY_MS) + INTERVAL_MS;
    if (delayMs > 0) this.#delayed += 1;
    return delayMs;
  }
}
