import { NotifiedPoll } from '@vitrine/postgres/notified-poll';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { KEY_CHANNEL, lastForeignRevision } from './key-changes.ts';

/** Calls `onChange` after another process has changed a key. A notification, or the time, makes it look; what it finds decides. */
export class KeyWatch implements AsyncDisposable {
  /** Resolves when the present state has been read, or could not be read: what changes from then on is noticed. */
  readonly ready: Promise<void>;
  readonly #pool: PostgresPool;
  readonly #writer: string;
  readonly #onChange: () => void;
  readonly #poll: NotifiedPoll;
  #known: number | undefined;
  #isFailing = false;
  #isOver = false;

  /** `writer`: the name of this process in `changed_by`. */
  constructor(pool: PostgresPool, writer: string, onChange: () => void, intervalMs?: number) {
    this.#pool = pool;
    this.#writer = writer;
    this.#onChange = onChange;
    const isRelevant = (by: string) => by !== writer;
    this.#poll = new NotifiedPoll(pool, { channel: KEY_CHANNEL, look: () => this.#look(), isRelevant, intervalMs });
    this.ready = this.#poll.ready;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#poll[Symbol.asyncDispose]();
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
