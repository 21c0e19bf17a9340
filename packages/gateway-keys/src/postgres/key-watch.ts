import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { KEY_CHANNEL, lastForeignRevision } from './key-changes.ts';

/** How often it looks even without a notification: LISTEN may not reach through a pooler. */
const POLL_INTERVAL_MS = 30_000;

/** Calls `onChange` after another process has changed a key. A notification, or the time, makes it look; what it finds decides. */
export class KeyWatch implements AsyncDisposable {
  /** Resolves when the present state has been read, or could not be read: what changes from then on is noticed. */
  readonly ready: Promise<void>;
  readonly #pool: PostgresPool;
  readonly #writer: string;
  readonly #onChange: () => void;
  readonly #listener: AsyncDisposable;
  readonly #timer: NodeJS.Timeout;
  #known: number | undefined;
  #looking: Promise<void>;
  #isWaiting = false;
  #isFailing = false;
  #isOver = false;

  /** `writer`: the name of this process in `changed_by`. */
  constructor(pool: PostgresPool, writer: string, onChange: () => void, pollIntervalMs: number = POLL_INTERVAL_MS) {
    this.#pool = pool;
    this.#writer = writer;
    this.#onChange = onChange;
    this.#looking = this.#look();
    this.ready = this.#looking;
    this.#timer = setInterval(() => this.#lookAgain(), pollIntervalMs);
    this.#timer.unref();
    this.#listener = pool.listen(KEY_CHANNEL, {
      onNotification: (by) => {
        if (by !== writer) this.#lookAgain();
      },
      onMissed: () => this.#lookAgain(),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#timer);
    await this.#listener[Symbol.asyncDispose]();
    await this.#looking;
  }

  /** Looks once more after the look in progress: the snapshot of that one may be older than the change. At most one waits. */
  #lookAgain(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#looking = this.#looking.then(() => {
      this.#isWaiting = false;
      return this.#isOver ? undefined : this.#look();
    });
  }

  async #look(): Promise<void> {
    try {
      const found = await lastForeignRevision(this.#pool, this.#writer);
      const isNew = this.#known !== undefined && found > this.#known;
      this.#known = Math.max(this.#known ?? 0, found);
      this.#isFailing = false;
      if (isNew && !this.#isOver) this.#onChange();
    } catch {
      // The watcher then reads the changes, and at once gets the fault with the reason.
      if (!this.#isFailing && !this.#isOver) this.#onChange();
      this.#isFailing = true;
    }
  }
}
