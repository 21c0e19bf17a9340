import type { KeyStore } from '@vitrine/gateway-keys/key-store';
import type { KeyRing } from './key-ring.ts';

/** How often the store is asked whatever it tells by itself, */
export const REFRESH_INTERVAL_MS = 30_000;
/** and how old its last answer may be: then a revoked key could still be in the ring, so none of its keys is accepted. */
export const STALE_AFTER_MS = 60_000;

export interface KeyRefreshOptions {
  readonly store: Pick<KeyStore, 'changes' | 'watch'>;
  readonly ring: KeyRing;
  /** Milliseconds on a clock that only goes forward. */
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
}

/** Keeps the ring as the store is. Spec: gateway decisions, section 2, Propagation. */
export class KeyRefresh implements Disposable {
  readonly #options: KeyRefreshOptions;
  readonly #watching = new DisposableStack();
  #freshAt = Number.NEGATIVE_INFINITY;
  /** Which store has told last. */
  #store: string | undefined;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #hasFailed = false;

  constructor(options: KeyRefreshOptions) {
    this.#options = options;
  }

  /** Whether keys of the store may be trusted. */
  get isFresh(): boolean {
    return this.#options.clock() - this.#freshAt <= STALE_AFTER_MS;
  }

  /** Whether the store did not answer the last question, or has not for so long that its keys may not be trusted. */
  get isFailing(): boolean {
    return this.#hasFailed || !this.isFresh;
  }

  /** Asks the store for what has changed. One question at a time: whoever asks meanwhile gets a second one after it. */
  refresh(): Promise<void> {
    if (this.#running !== undefined) {
      this.#isWanted = true;
      return this.#running;
    }
    this.#running = this.#ask().finally(() => {
      this.#running = undefined;
      if (!this.#isWanted) return;
      this.#isWanted = false;
      this.#refreshOrReport();
    });
    return this.#running;
  }

  /** From now on follows the store by itself. */
  start(): void {
    const timer = setInterval(() => this.#refreshOrReport(), REFRESH_INTERVAL_MS);
    timer.unref();
    this.#watching.defer(() => clearInterval(timer));
    this.#watching.use(this.#options.store.watch(() => this.#refreshOrReport()));
  }

  [Symbol.dispose](): void {
    this.#watching.dispose();
  }

  async #ask(): Promise<void> {
    // The answer is as old as its question.
    const askedAt = this.#options.clock();
    try {
      await this.#apply();
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
    this.#freshAt = askedAt;
    this.#hasFailed = false;
  }

  async #apply(): Promise<void> {
    const { store, ring } = this.#options;
    const changes = await store.changes(ring.revision);
    const isAnother = this.#store !== undefined && changes.store !== this.#store;
    if (isAnother || changes.revision < ring.revision) {
      // What another store, or an older copy, does not have any more is in no change.
      const all = await store.changes(0);
      ring.forget();
      ring.apply(all);
      this.#store = all.store;
    } else {
      ring.apply(changes);
      this.#store = changes.store;
    }
  }

  #refreshOrReport(): void {
    this.refresh().catch(this.#options.onError);
  }
}
