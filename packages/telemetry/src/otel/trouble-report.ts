/** A gone collector fails an export every second or so; it is logged at once, and then with all that followed. */
const INTERVAL_MS = 60_000;

/** Passes on the first message at once, then every minute the last of those that followed, with the number of the others, and on disposal what
 *  is left. */
export class TroubleReport implements Disposable {
  readonly #log: (message: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #last = '';
  #unlogged = 0;

  constructor(log: (message: string) => void) {
    this.#log = log;
  }

  /** Something went wrong. */
  add(message: string): void {
    if (this.#timer === undefined) {
      this.#log(message);
      this.#wait();
      return;
    }
    this.#last = message;
    this.#unlogged += 1;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#logRest();
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#logRest()) this.#wait();
    }, INTERVAL_MS).unref();
  }

  #logRest(): boolean {
    const others = this.#unlogged - 1;
    if (others < 0) return false;
    this.#log(others === 0 ? this.#last : `${this.#last} (and ${others} more in the last minute)`);
    this.#unlogged = 0;
    return true;
  }
}
