import type { PepperCheck } from '@vitrine/credentials/pepper-check';
import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import type { KeyStore } from '@vitrine/gateway-keys/key-store';
import type { KeyRing } from './key-ring.ts';

/** How far the stored `last_used_at` may be behind. */
const FLUSH_INTERVAL_MS = 10_000;
const BATCH = 500;

export interface KeyUsesOptions {
  readonly ring: KeyRing;
  readonly store: Pick<KeyStore, 'markUsed' | 'moveTokens' | 'recordPeppers'>;
  readonly peppers: Pick<PepperCheck, 'isRecorded'>;
  readonly configured: readonly PepperIdentity[];
  readonly onError: (error: unknown) => void;
}

/** Stores at intervals, off the request path: the times of uses, the hashes of used tokens under the newest pepper, and unrecorded peppers that
 *  verified a token. */
export class KeyUses implements AsyncDisposable {
  readonly #options: KeyUsesOptions;
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> | undefined;

  constructor(options: KeyUsesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.flush().catch(options.onError), FLUSH_INTERVAL_MS).unref();
  }

  /** Stores changes since the last flush. The next flush retries a failure. */
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
    const { ring, store, peppers, configured } = this.#options;
    for (const batch of batchesOf(ring.unstoredUses())) {
      await store.markUsed(batch);
      ring.usesStored(batch);
    }
    const proven = configured.filter(({ pepper_version }) => ring.hasVerifiedWith(pepper_version));
    const unrecorded = proven.filter(({ pepper_version }) => !peppers.isRecorded(pepper_version));
    if (unrecorded.length > 0) await store.recordPeppers(unrecorded);
    for (const batch of batchesOf(ring.tokenMoves())) {
      for (const row of await store.moveTokens(batch)) ring.put(row);
      ring.movesStored(batch);
    }
  }
}

function batchesOf<T>(items: readonly T[]): (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / BATCH) }, (_, i) => items.slice(i * BATCH, (i + 1) * BATCH));
}
