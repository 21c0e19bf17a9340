import { setTimeout as sleep } from 'node:timers/promises';

/** So many refusals a second are sent when they are ready, and a burst of so many at once; later ones are delayed. A client that sends its next
 *  request when it has its response cannot take the event loop from others then. */
const PER_SECOND = 500;
const BURST = 100;
/** It has to fit into a shutdown step of 5 s. */
const MAX_DELAY_MS = 3_000;
const INTERVAL_MS = 1_000 / PER_SECOND;

/** Sends responses that cost their clients nothing at a bounded rate. */
export class ResponsePacer {
  readonly #clock: () => number;
  /** When the next response is due. */
  #nextAt = Number.NEGATIVE_INFINITY;
  #delayed = 0;

  /** `clock`: milliseconds that never go back. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get delayed(): number {
    return this.#delayed;
  }

  /** Reserves the turn of a response and returns for how many milliseconds it has to wait. */
  delayMs(): number {
    const now = this.#clock();
    const dueAt = Math.max(this.#nextAt, now - (BURST - 1) * INTERVAL_MS);
    const delayMs = Math.min(Math.max(0, dueAt - now), MAX_DELAY_MS);
    this.#nextAt = Math.min(dueAt, now + MAX_DELAY_MS) + INTERVAL_MS;
    if (delayMs > 0) this.#delayed += 1;
    return delayMs;
  }

  /** Resolves when the response may be sent. */
  async pace(signal: AbortSignal): Promise<void> {
    const delayMs = this.delayMs();
    if (delayMs > 0 && !signal.aborted) await sleep(delayMs, undefined, { signal }).catch(() => {});
  }
}
