import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import type { Logger } from '@vitrine/telemetry/logger';
import { setTimeout as wait } from 'node:timers/promises';

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

/**
 * Writes the vocabulary of this version to the database once, when it can be reached and has its tables. The store API is its only
 * writer. Observations of technologies that are missing there fail and are retried.
 */
export class VocabularyWriter implements AsyncDisposable {
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(pool: PostgresPool, logger: Logger) {
    this.#running = this.#run(pool, logger);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(pool: PostgresPool, logger: Logger): Promise<void> {
    const { signal } = this.#stopping;
    for (let delayMs = FIRST_RETRY_MS; !signal.aborted; delayMs = Math.min(2 * delayMs, MAX_RETRY_MS)) {
      try {
        const changed = await importVocabulary(pool, VOCABULARY);
        if (changed > 0) logger.info({ technologies: VOCABULARY.length, changed }, 'vocabulary written');
        return;
      } catch (error) {
        // The probe already logs the unavailable database at a higher level.
        logger.debug({ ...databaseErrorFields(error) }, 'vocabulary not written; retrying');
      }
      await wait(delayMs, undefined, { signal }).catch(() => {});
    }
  }
}
