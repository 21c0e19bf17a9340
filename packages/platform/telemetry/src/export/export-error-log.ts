import { LogThrottle } from '../log-throttle.ts';

/** While the collector is unavailable, an export fails about every second. */
const INTERVAL_MS = 60_000;

/** Logs the first failed export at once, then every minute the latest with the number of the others, and the rest on disposal. */
export class ExportErrorLog implements Disposable {
  readonly #throttle: LogThrottle<string>;

  constructor(log: (message: string) => void) {
    this.#throttle = new LogThrottle(INTERVAL_MS, (message, count) =>
      log(count === 1 ? message : `${message} (and ${count - 1} more in the last minute)`),
    );
  }

  add(message: string): void {
    this.#throttle.add('', message);
  }

  [Symbol.dispose](): void {
    this.#throttle[Symbol.dispose]();
  }
}
