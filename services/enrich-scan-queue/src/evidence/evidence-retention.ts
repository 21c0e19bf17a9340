import type { PostgresPool } from '@vitrine/postgres/postgres-pool';

const BATCH = 500;

const EMPTY = `UPDATE observations SET evidence = NULL WHERE id IN (
  SELECT id FROM observations WHERE evidence IS NOT NULL AND completed_at < now() - make_interval(days => $1)
  ORDER BY completed_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;

/** Removes evidence that is older, until none is left or the signal is aborted; a transaction for each 500. Resolves with the number of observations. */
export async function removeOldEvidence(pool: PostgresPool, retentionDays: number, signal: AbortSignal): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const some = await pool.execute(EMPTY, [retentionDays]);
    removed += some;
    if (some < BATCH) break;
  }
  return removed;
}
