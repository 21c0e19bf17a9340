import type { KeyStore } from '@vitrine/gateway-keys/key-store';
import type { KeyRing } from './key-ring.ts';

/** How far the stored `last_used_at` may be behind. */
const FLUSH_INTERVAL_MS = 10_000;
const BATCH = 500;

/** Stores the last use of keys in intervals, off the request path. */
export class LastUsed implements AsyncDisposable {
  readonly #ring: KeyRing;
  readonly #store: Pick<KeyStore, 'markUsed'>;
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> | undefined;

  constructor(ring: KeyRing, store: Pick<KeyStore, 'markUsed'>, onError: (error: unknown) => void) {
    this.#ring = ring;
    this.#store = store;
    this.#timer = setInterval(() => void this.flush().catch(onError), FLUSH_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Stores the uses since the last flush. Failed ones are retried by the next. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => (this.#flushing = undefined));
    return this.#flushing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing?.catch(() => {});
    await this.flush();
  }

  async #write(): Promise<void> {
    const uses = this.#ring.unstoredUses();
    for (let i = 0; i < uses.length; i += BATCH) {
      const batch = uses.slice(i, i + BATCH);
      await this.#store.markUsed(batch);
      this.#ring.usesStored(batch);
    }
  }
}
