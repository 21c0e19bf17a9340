interface Quiet<Event> {
  /** The latest since the last line; undefined: none. */
  latest: Event | undefined;
  count: number;
  readonly timer: NodeJS.Timeout;
}

/** Keeps a flood of events out of the log, and none of them from being counted: of each kind the first is written at once, then after each
 *  `intervalMs` the latest with the number of those that came since the last line, and on disposal what is left. By timers, so that no clock
 *  that is set changes it. There are as many entries as kinds: whoever names kinds bounds them. */
export class LogThrottle<Event> implements Disposable {
  readonly #intervalMs: number;
  readonly #write: (event: Event, count: number) => void;
  readonly #quiet = new Map<string, Quiet<Event>>();

  constructor(intervalMs: number, write: (event: Event, count: number) => void) {
    this.#intervalMs = intervalMs;
    this.#write = write;
  }

  /** `count`: how many the event stands for. */
  add(kind: string, event: Event, count: number = 1): void {
    const quiet = this.#quiet.get(kind);
    if (quiet === undefined) {
      this.#write(event, count);
      this.#beQuiet(kind);
    } else {
      quiet.latest = event;
      quiet.count += count;
    }
  }

  [Symbol.dispose](): void {
    const left = [...this.#quiet.values()];
    this.#quiet.clear();
    for (const { timer, latest, count } of left) {
      clearTimeout(timer);
      if (latest !== undefined) this.#write(latest, count);
    }
  }

  #beQuiet(kind: string): void {
    const timer = setTimeout(() => this.#endQuiet(kind), this.#intervalMs).unref();
    this.#quiet.set(kind, { latest: undefined, count: 0, timer });
  }

  #endQuiet(kind: string): void {
    const { latest, count = 0 } = this.#quiet.get(kind) ?? {};
    this.#quiet.delete(kind);
    if (latest === undefined) return;
    this.#write(latest, count);
    this.#beQuiet(kind);
  }
}
