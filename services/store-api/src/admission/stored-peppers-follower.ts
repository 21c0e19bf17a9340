import { PepperCheck } from '@vitrine/credentials/pepper-check';
import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import type { Pepper } from '@vitrine/credentials/pepper';
import { recordedPeppers, recordPeppers } from '@vitrine/credentials/postgres/pepper-rows';
import { TokenHashes, type NewTokenHash } from '@vitrine/credentials/token-hashes';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { moveKeys, readStoredPeppers, type KeyMove } from '@vitrine/stores/workspaces/stored-peppers';
import type { Logger } from '@vitrine/telemetry/logger';
import type { VerifyingPeppers } from './admission-control.ts';

const SETTING = 'auth.peppers (STORE_API_AUTH_PEPPERS)';
const FLUSH_INTERVAL_MS = 10_000;
const BATCH = 500;
/** Maximum number of used keys waiting to be rehashed. Others are rehashed when used again. */
const MAX_WAITING = 50_000;

interface FollowerContext {
  readonly pool: PostgresPool;
  /** Resolves once the database is available. */
  readonly ready: Promise<void>;
  readonly logger: Logger;
}

/** Compares the peppers of this process with those of the stored tokens, and stores at intervals, off the request path: hashes of used tokens
 *  under the newest pepper, and unrecorded peppers that verified a token. */
export class StoredPeppersFollower implements VerifyingPeppers, AsyncDisposable {
  readonly hashes: TokenHashes;
  readonly #pool: PostgresPool;
  readonly #logger: Logger;
  readonly #check: PepperCheck;
  readonly #timer: NodeJS.Timeout;
  readonly #waiting = new Map<string, KeyMove>();
  readonly #verifiedWith = new Set<number>();
  #flushing: Promise<void> | undefined;

  constructor(peppers: readonly Pepper[], { pool, ready, logger }: FollowerContext) {
    this.hashes = new TokenHashes(peppers);
    this.#pool = pool;
    this.#logger = logger;
    const read = () => readStoredPeppers(pool);
    this.#check = new PepperCheck({ configured: this.hashes.identities, read, logger, setting: SETTING });
    void ready.then(() => this.#check.start());
    this.#timer = setInterval(() => void this.#flush(), FLUSH_INTERVAL_MS).unref();
  }

  get isChecked(): boolean {
    return this.#check.isChecked;
  }

  get isMismatched(): boolean {
    return this.#check.problem !== undefined;
  }

  get isComplete(): boolean {
    return this.isChecked && !this.isMismatched;
  }

  async areComplete(): Promise<boolean> {
    const recorded = await recordedPeppers(this.#pool, 'api_keys');
    const isNew = ({ pepper_version }: PepperIdentity) => !this.#check.isRecorded(pepper_version);
    if (recorded.some(isNew)) await this.#check.check();
    return this.isComplete;
  }

  verified(key_id: string, hashes: readonly NewTokenHash[], pepperVersion: number): void {
    this.#verifiedWith.add(pepperVersion);
    const [to] = hashes;
    const from = hashes.find(({ pepper_version }) => pepper_version === pepperVersion);
    if (to === undefined || from === undefined || from === to || this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(key_id, { key_id, from: from.token_mac, to });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#check[Symbol.dispose]();
    clearInterval(this.#timer);
    await this.#flushing;
    await this.#flush();
  }

  /** The next flush retries a failure. */
  #flush(): Promise<void> {
    const onError = (error: unknown) =>
      this.#logger.error({ ...databaseErrorFields(error) }, 'moving hashes of keys to another pepper failed');
    this.#flushing ??= this.#write()
      .catch(onError)
      .finally(() => (this.#flushing = undefined));
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const isUnrecorded = ({ pepper_version }: PepperIdentity) =>
      this.#verifiedWith.has(pepper_version) && !this.#check.isRecorded(pepper_version);
    const unrecorded = this.hashes.identities.filter(isUnrecorded);
    if (unrecorded.length > 0) await recordPeppers(this.#pool, 'api_keys', unrecorded);
    // Other processes could not verify tokens rehashed with a pepper that they do not have.
    while (this.#waiting.size > 0 && this.isComplete) {
      const batch = [...this.#waiting.values()].slice(0, BATCH);
      await this.#pool.transaction((transaction) => moveKeys(transaction, batch));
      for (const move of batch) if (this.#waiting.get(move.key_id) === move) this.#waiting.delete(move.key_id);
    }
  }
}
