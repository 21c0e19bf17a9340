/** What a throttle measures its interval by. */
export interface ThrottleTiming {
  /** Milliseconds on a monotonic clock. */
  readonly clock: () => number;
  /** Runs `work` after `ms`. Returns a function that cancels it. */
  readonly schedule: (work: () => void, ms: number) => () => void;
}

/** One kind of event. */
interface Kind<Event> {
  quietUntil: number;
  /** The latest event without a line, in a tuple because an event may be undefined. */
  latest: readonly [Event] | undefined;
  /** Events without a line. */
  count: number;
  cancel: (() => void) | undefined;
}

/** The steady clock and unreferenced timers. Disposal writes what they would have written. */
const SYSTEM_TIMING: ThrottleTiming = {
  clock: () => performance.now(),
  schedule: (work, ms) => {
    const timer = setTimeout(work, Math.ceil(ms)).unref();
    return () => clearTimeout(timer);
  },
};

/** Limits a log to one line per kind of event and interval, and counts every event in exactly one line: the first at once, then after `intervalMs` the
 *  latest with the number of events since the last line, and on disposal the rest. Keeps one entry per kind, so callers bound the number of kinds. */
export class LogThrottle<Event> implements Disposable {
  readonly #intervalMs: number;
  readonly #write: (event: Event, count: number) => void;
  readonly #timing: ThrottleTiming;
  readonly #kinds = new Map<string, Kind<Event>>();

  constructor(intervalMs: number, write: (event: Event, count: number) => void, timing: Partial<ThrottleTiming> = {}) {
    this.#intervalMs = intervalMs;
    this.#write = write;
    this.#timing = { ...SYSTEM_TIMING, ...timing };
  }

  /** `count`: how many events this one stands for. */
  add(name: string, event: Event, count: number = 1): void {
    const kind = this.#kindOf(name);
    kind.latest = [event];
    kind.count += count;
    this.#writeWhenDue(kind);
  }

  [Symbol.dispose](): void {
    for (const kind of this.#kinds.values()) this.#writeLatest(kind);
    this.#kinds.clear();
  }

  #kindOf(name: string): Kind<Event> {
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    const kind = { quietUntil: Number.NEGATIVE_INFINITY, latest: undefined, count: 0, cancel: undefined };
    this.#kinds.set(name, kind);
    return kind;
  }

  /** Timers may fire early by a fraction of a millisecond, so the clock decides. */
  #writeWhenDue(kind: Kind<Event>): void {
    const waitMs = kind.quietUntil - this.#timing.clock();
    if (waitMs <= 0) return this.#writeLatest(kind);
    kind.cancel ??= this.#timing.schedule(() => {
      kind.cancel = undefined;
      this.#writeWhenDue(kind);
    }, waitMs);
  }

  #writeLatest(kind: Kind<Event>): void {
    kind.cancel?.();
    const { latest, count } = kind;
    kind.cancel = undefined;
    kind.latest = undefined;
    kind.count = 0;
    if (latest === undefined) return;
    this.#write(latest[0], count);
    // Measured after the line, so that the time of writing is not part of the interval.
    kind.quietUntil = this.#timing.clock() + this.#intervalMs;
  }
}
