import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { claimReplays } from '@vitrine/stores/commit/claim-replays';
import { replayStore, type ReplayContext } from '@vitrine/stores/commit/replay-store';
import type { Logger } from '@vitrine/telemetry/logger';
import { setTimeout as wait } from 'node:timers/promises';

/** Stores claimed at once. A process that dies leaves them to the next pass. */
const BATCH = 20;
const IDLE_MS = 10_000;
const NEXT_STEP = 'its next scan updates its profile at the latest; docs/failure-modes.md#stores-that-do-not-follow-new-rules';

export interface ReplayFigures {
  /** Stores of this process by result. */
  readonly stores: Readonly<Record<'replayed' | 'unchanged' | 'failed', number>>;
  /** Of all processes; undefined while it is not known. */
  readonly remaining: number | undefined;
}

interface RulesReplayOptions extends ReplayContext {
  readonly logger: Logger;
  /** 0: none. */
  readonly perSecond: number;
}

/** Replays the kept evidence of all stores when the rules of this process differ from those of the last observations. Replays slowly, one store
 *  and one transaction at a time, together with other processes of the same rules. */
export class RulesReplay implements AsyncDisposable {
  readonly #figures = { stores: { replayed: 0, unchanged: 0, failed: 0 }, remaining: undefined as ReplayFigures['remaining'] };
  readonly figures: ReplayFigures = this.#figures;
  readonly #pool: PostgresPool;
  readonly #options: RulesReplayOptions;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;

  constructor(pool: PostgresPool, options: RulesReplayOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#ended = options.perSecond === 0 ? Promise.resolve() : this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const hasMore = await this.#replaySome().catch((err: unknown) => {
        this.#figures.remaining = undefined;
        this.#options.logger.warn({ ...databaseErrorFields(err) }, 'loading stores for replay failed');
        return false;
      });
      if (!hasMore) await this.#pause(IDLE_MS);
    }
  }

  async #replaySome(): Promise<boolean> {
    const { storefrontIds, hasMore, remaining } = await claimReplays(this.#pool, this.#options.rules, BATCH);
    this.#figures.remaining = remaining ?? this.#figures.remaining;
    // Another process claims at the moment.
    if (remaining === undefined) await this.#pause(1_000 / this.#options.perSecond);
    for (const storefrontId of storefrontIds) {
      if (this.#stopping.signal.aborted) break;
      await this.#replay(storefrontId);
      await this.#pause(1_000 / this.#options.perSecond);
    }
    return hasMore;
  }

  async #replay(storefrontId: string): Promise<void> {
    try {
      const isReplayed = await this.#pool.transaction((transaction) => replayStore(transaction, storefrontId, this.#options));
      this.#figures.stores[isReplayed ? 'replayed' : 'unchanged'] += 1;
    } catch (error) {
      this.#figures.stores.failed += 1;
      const fields = { ...databaseErrorFields(error), storefront_id: storefrontId, next_step: NEXT_STEP };
      this.#options.logger.warn(fields, 'evidence of a store not replayed');
    }
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
