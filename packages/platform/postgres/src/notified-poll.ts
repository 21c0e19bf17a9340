import type { PostgresPool } from './postgres-pool.ts';

/** How often to look even without a notification: LISTEN may not reach through a pooler. */
const INTERVAL_MS = 30_000;

interface NotifiedPollOptions {
  readonly channel: string;
  /** Reads what may have changed. Must not reject. */
  readonly look: () => Promise<void>;
  /** Whether a notification with this payload is a reason to look. */
  readonly isRelevant?: (payload: string) => boolean;
  readonly intervalMs?: number | undefined;
}

/** Looks at once, on every notification of a channel, after a connection was lost, and at an interval. One look runs at a time; whatever
 *  comes meanwhile makes one more follow, because the snapshot of the one in progress may be older than the change. */
export class NotifiedPoll implements AsyncDisposable {
  /** Resolves after the first look: what changes from then on is noticed. */
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
    this.#timer = setInterval(() => this.lookAgain(), intervalMs);
    this.#timer.unref();
    this.#listener = pool.listen(channel, {
      onNotification: (payload) => {
        if (isRelevant(payload)) this.lookAgain();
      },
      onMissed: () => this.lookAgain(),
    });
  }

  /** Looks once more after the look in progress. At most one waits. */
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
