import type { RetentionLoop } from '@vitrine/postgres/advance-retention';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Removed } from '@vitrine/telemetry/retention-log';

const BATCH = 500;

export const EVIDENCE_RETENTION: RetentionLoop = {
  name: 'evidence',
  newest: 'SELECT max(completed_at) AS newest FROM observations WHERE evidence IS NOT NULL',
};

const EMPTY = `WITH emptied AS (
    UPDATE observations SET evidence = NULL WHERE id IN (
      SELECT id FROM observations WHERE evidence IS NOT NULL AND completed_at < $1
      ORDER BY completed_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) RETURNING completed_at)
  SELECT 'observations.evidence' AS what, count(*) AS count, min(completed_at) AS oldest, max(completed_at) AS newest FROM emptied`;

/** Removes the evidence of observations that were completed before a moment, 500 of them at a time; resolves with what it removed. */
export async function removeEvidence(pool: PostgresPool, beforeMs: number): Promise<Removed[]> {
  const removed = await pool.query<Removed>(EMPTY, [new Date(beforeMs)]);
  return removed.filter(({ count }) => count > 0);
}
