import type { RetentionLoop } from '@vitrine/postgres/advance-retention';
import { tryLockByName } from '@vitrine/postgres/advisory-lock';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { Removed } from '@vitrine/telemetry/retention-log';

const LOCK = 'vitrine.store_retention';
export const STORE_RETENTION: RetentionLoop = {
  name: 'store_api',
  newest: 'SELECT created_at AS newest FROM outbox ORDER BY id DESC LIMIT 1',
};
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Rows of one transaction. */
const BATCH = 1_000;
/** Batches of one table and pass; what is left goes in the next pass. */
const MAX_BATCHES = 500;
const MONTHS_AHEAD = 2;

/** The job of an analysis is removed days after its end: until then somebody may ask for the result. */
const WITHOUT_JOB = 'AND NOT EXISTS (SELECT FROM scan_jobs j WHERE j.id = scan_job_id)';

interface Kept {
  readonly column: string;
  readonly keptMs: number;
  /** What else a row must meet to be removed. */
  readonly only?: string;
}

/** What is removed, and how long it is kept. Candidates come before the evidence that they refer to. Spec: S6.23; ADR 0103 where it is silent. */
const KEPT = {
  idempotency_keys: { column: 'created_at', keptMs: DAY_MS },
  outbox: { column: 'published_at', keptMs: 7 * DAY_MS },
  scan_jobs: { column: 'finished_at', keptMs: 7 * DAY_MS },
  analyses: { column: 'created_at', keptMs: 30 * DAY_MS, only: WITHOUT_JOB },
  candidates: { column: 'received_at', keptMs: 180 * DAY_MS },
  evidence: { column: 'received_at', keptMs: 180 * DAY_MS },
  evidence_receipts: { column: 'created_at', keptMs: 180 * DAY_MS },
  login_links: { column: 'expires_at', keptMs: 7 * DAY_MS },
} as const satisfies Record<string, Kept>;
type RetainedTable = keyof typeof KEPT;
export const RETAINED_TABLES = Object.keys(KEPT) as RetainedTable[];

/** A count for each table, from zero. */
export function noRowsRemoved(): Record<RetainedTable, number> {
  return Object.fromEntries(RETAINED_TABLES.map((table) => [table, 0])) as Record<RetainedTable, number>;
}

interface RetentionPass {
  readonly removed: Readonly<Record<RetainedTable, number>>;
  readonly partitionsMade: number;
}

/** Removes what is older than its time, and makes the partitions of the ledger for the months ahead. Resolves to undefined when another
 *  replica does it. Each batch is a transaction of its own, so a pass that fails keeps what it has done, which `onRemoved` was told. */
export async function applyStoreRetention(
  pool: PostgresPool,
  nowMs: number,
  { batch = BATCH, onRemoved = () => {} }: { readonly batch?: number; readonly onRemoved?: (removed: Removed) => void } = {},
): Promise<RetentionPass | undefined> {
  const removed = noRowsRemoved();
  // Waits for rows that are being written, so it has a transaction of its own; a lock inside of it lets one replica do it.
  const [made] = await pool.query<{ made: number }>('SELECT make_ledger_partitions($1) AS made', [MONTHS_AHEAD]);
  for (const table of RETAINED_TABLES) {
    for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
      const gone = await pool.transaction(async (transaction) =>
        (await tryLockByName(transaction, LOCK)) ? removeBatch(transaction, table, nowMs, batch) : undefined,
      );
      if (gone === undefined) return undefined;
      if (gone.count > 0) onRemoved(gone);
      removed[table] += gone.count;
      if (gone.count < batch) break;
    }
  }
  return { removed, partitionsMade: made?.made ?? 0 };
}

async function removeBatch(transaction: Transaction, table: RetainedTable, nowMs: number, batch: number): Promise<Removed> {
  const { column, keptMs, only = '' }: Kept = KEPT[table];
  // A row that somebody has just taken over, such as an idempotency key that is used again, has another ctid and stays.
  const old = `SELECT ctid FROM ${table} WHERE ${column} <= $1 ${only} LIMIT $2`;
  const [removed] = await transaction.query<Removed>(
    `WITH gone AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(${old})) RETURNING ${column} AS at)
     SELECT '${table}' AS what, count(*) AS count, min(at) AS oldest, max(at) AS newest FROM gone`,
    [new Date(nowMs - keptMs), batch],
  );
  return removed ?? { what: table, count: 0, oldest: 0, newest: 0 };
}
