import type { PepperCheck } from '@vitrine/credentials/pepper-check';
import type { KeyStore } from '@vitrine/gateway-keys/key-store';
import type { KeyRing } from './key-ring.ts';

/** How often changes are read without a notification. */
export const REFRESH_INTERVAL_MS = 30_000;
/** The maximum age of the last read. After that a revoked key could still be in the ring, so no key of the store is accepted. */
export const STALE_AFTER_MS = 60_000;

interface KeyRefreshOptions {
  readonly store: Pick<KeyStore, 'changes' | 'watch'>;
  readonly ring: KeyRing;
  readonly peppers: Pick<PepperCheck, 'check'>;
  /** Milliseconds on a monotonic clock. */
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
}

/** Applies the changes of the store to the ring, and compares the peppers with those of the stored tokens. Spec: G2.19, G8.23, G8.24. */
export class KeyRefresh implements Disposable {
  readonly #options: KeyRefreshOptions;
  readonly #watching = new DisposableStack();
  #freshAt = Number.NEGATIVE_INFINITY;
  /** The id of the store of the last changes. */
  #store: string | undefined;
  #running: Promise<void> | undefined;
  #isRequested = false;
  #hasFailed = false;

  constructor(options: KeyRefreshOptions) {
    this.#options = options;
  }

  /** Whether keys of the store may be trusted. */
  get isFresh(): boolean {
    return this.#options.clock() - this.#freshAt <= STALE_AFTER_MS;
  }

  /** Whether the last read failed, or is so old that the keys may not be trusted. */
  get isFailing(): boolean {
    return this.#hasFailed || !this.isFresh;
  }

  /** Reads and applies the changes. One read runs at a time. A call during a read causes one more read after it. */
  refresh(): Promise<void> {
    if (this.#running !== undefined) {
      this.#isRequested = true;
      return this.#running;
    }
    this.#running = this.#read().finally(() => {
      this.#running = undefined;
      if (!this.#isRequested) return;
      this.#isRequested = false;
      this.#refreshOrReport();
    });
    return this.#running;
  }

  /** Starts reading on notifications and at intervals. */
  start(): void {
    const timer = setInterval(() => this.#refreshOrReport(), REFRESH_INTERVAL_MS).unref();
    this.#watching.defer(() => clearInterval(timer));
    this.#watching.use(this.#options.store.watch(() => this.#refreshOrReport()));
  }

  [Symbol.dispose](): void {
    this.#watching.dispose();
  }

  async #read(): Promise<void> {
    // The changes are as old as the start of the read.
    const startedAt = this.#options.clock();
    try {
      await this.#apply();
      await this.#options.peppers.check();
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
    this.#freshAt = startedAt;
    this.#hasFailed = false;
  }

  async #apply(): Promise<void> {
    const { store, ring } = this.#options;
    const changes = await store.changes(ring.revision);
    const isReplaced = this.#store !== undefined && changes.store !== this.#store;
    if (isReplaced || changes.revision < ring.revision) {
      // Changes do not mention keys that are missing in another store or an older copy.
      const all = await store.changes(0);
      ring.clear();
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
