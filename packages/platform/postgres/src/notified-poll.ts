import type { PostgresPool } from './postgres-pool.ts';

/** Poll interval without notifications, because LISTEN may not work through a pooler. */
const INTERVAL_MS = 30_000;

interface NotifiedPollOptions {
  readonly channel: string;
  /** Reads possible changes. Must not reject. */
  readonly look: () => Promise<void>;
  /** Whether a notification with this payload triggers a read. */
  readonly isRelevant?: (payload: string) => boolean;
  readonly intervalMs?: number | undefined;
}

/** Reads at once, on every notification of a channel, after a lost connection, and at an interval. One read runs at a time. Triggers during a read
 *  cause one more, because its snapshot may be older than the change. */
export class NotifiedPoll implements AsyncDisposable {
  /** Resolves after the first read. Later changes are detected. */
  readonly ready: Promise<void>;
  readonly #look: () => Promise<void>;
  readonly #listener: AsyncDisposable;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void>;
  #isWaiting = false;
  #isOver = false;

  constructor(pool: PostgresPool, { channel, look, isRelevant = () => true, intervalMs = INTERVAL_MS }: NotifiedPollOptions) {
    this.#look = look;
    this.#looking = look();
    this.ready = this.#looking;
    this.#timer = setInterval(() => this.lookAgain(), intervalMs).unref();
    this.#listener = pool.listen(channel, {
      onNotification: (payload) => {
        if (isRelevant(payload)) this.lookAgain();
      },
      onMissed: () => this.lookAgain(),
    });
  }

  /** Reads again after the read in progress. At most one read waits. */
  lookAgain(): void {
    if (this.#isWaiting || this.#isOver) return;
    this.#isWaiting = true;
    this.#looking = this.#looking.then(() => {
      this.#isWaiting = false;
      return this.#isOver ? undefined : this.#look();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#timer);
    await this.#listener[Symbol.asyncDispose]();
    await this.#looking;
  }
}
