const HOUR_MS = 3_600_000;
/** Two days of data an hour. */
const PACE = 48;

/** The stored state of a retention clock. Times are milliseconds since the epoch. */
export interface RetentionRun {
  /** The time up to which the last run removed data. */
  readonly at: number;
  /** The store's clock at that run. */
  readonly ranAt: number;
}

/** The time by which retention removes data. It follows the store's clock, but gains at most two days an hour, so that a clock that jumps ahead
 *  removes little data before an operator notices. A store that was off for a long time catches up at that rate. */
export class RetentionClock {
  readonly #steadyClock: () => number;
  #seen: { readonly at: number; readonly steadyMs: number } | undefined;

  /** `steadyClock`: milliseconds on a clock that does not jump. */
  constructor(steadyClock: () => number) {
    this.#steadyClock = steadyClock;
  }

  /** The run after `last`, the last run of any process. `nowMs`: the store's clock. The first run of a store begins at `newestMs`, the time of its
   *  newest row. The steady clock measures the time since the last run. At the start of a process the store's clock is used, up to an hour. */
  next(last: RetentionRun | undefined, nowMs: number, newestMs: number = nowMs): RetentionRun {
    const steadyMs = this.#steadyClock();
    const { at, ranAt } = last ?? { at: newestMs, ranAt: Number.NEGATIVE_INFINITY };
    const elapsedMs = this.#seen === undefined ? Math.abs(nowMs - ranAt) : steadyMs - this.#seen.steadyMs;
    const from = Math.min(at, this.#seen?.at ?? at);
    const next = Math.min(nowMs, Math.floor(from + PACE * Math.min(elapsedMs, HOUR_MS)));
    this.#seen = { at: next, steadyMs };
    return { at: next, ranAt: nowMs };
  }
}
