import { LogThrottle } from '../log-throttle.ts';

/** A gone collector fails an export every second or so; it is logged at once, and then with all that followed. */
const INTERVAL_MS = 60_000;

/** Passes on the first message at once, then every minute the last of those that followed, with the number of the others, and on disposal what
 *  is left. */
export class ExportErrorLog implements Disposable {
  readonly #throttle: LogThrottle<string>;

  constructor(log: (message: string) => void) {
    this.#throttle = new LogThrottle(INTERVAL_MS, (message, count) =>
      log(count === 1 ? message : `${message} (and ${count - 1} more in the last minute)`),
    );
  }

  /** Something went wrong. */
  add(message: string): void {
    this.#throttle.add('', message);
  }

  [Symbol.dispose](): void {
    this.#throttle[Symbol.dispose]();
  }
}
