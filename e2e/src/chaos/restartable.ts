import type { RunningProcess } from '../running-process.ts';

const STOP_WITHIN_MS = 30_000;

/** A service that is stopped and restarted with the same address and files. */
export class Restartable<T extends AsyncDisposable & { readonly process: RunningProcess }> implements AsyncDisposable {
  readonly name: string;
  /** When it was killed; milliseconds since the epoch. */
  readonly killedAt: number[] = [];
  readonly #start: () => Promise<T>;
  #running: T | undefined;
  #log = '';

  constructor(name: string, start: () => Promise<T>) {
    this.name = name;
    this.#start = start;
  }

  get running(): T {
    if (this.#running === undefined) throw new Error(`${this.name} is not running`);
    return this.#running;
  }

  /** The output of all its processes. */
  get log(): string {
    return this.#log + (this.#running?.process.stdout ?? '') + (this.#running?.process.stderr ?? '');
  }

  async start(): Promise<void> {
    this.#running = await this.#start();
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.killedAt.push(Date.now());
    await this.#end('SIGKILL');
  }

  /** SIGTERM, and waits for the end. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.[Symbol.asyncDispose]();
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { process } = this.running;
    process.signal(signal);
    await process.end(STOP_WITHIN_MS);
    this.#log = this.log;
    this.#running = undefined;
  }
}
