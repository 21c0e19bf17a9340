import { type RetentionLoop, advanceRetention } from '@vitrine/postgres/advance-retention';
import { tryLockByName } from '@vitrine/postgres/advisory-lock';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { type Removed, RetentionLog, type RetentionLogger } from '@vitrine/telemetry/retention-log';
import { RetentionClock } from '@vitrine/lifecycle/retention-clock';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import { counter } from '@vitrine/telemetry/metrics/instrument';

const LOCK = 'vitrine.store_retention';
const STORE_RETENTION: RetentionLoop = {
  name: 'store_api',
  newest: 'SELECT created_at AS newest FROM outbox ORDER BY id DESC LIMIT 1',
};
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Maximum rows of one transaction. */
const BATCH = 1_000;
/** Maximum batches per table and pass. The rest is removed in the next pass. */
const MAX_BATCHES = 500;
const MONTHS_AHEAD = 2;

/** The job of an analysis is removed days after its end, because clients may request the result until then. */
const WITHOUT_JOB = 'AND NOT EXISTS (SELECT FROM scan_jobs j WHERE j.id = scan_job_id)';

interface Kept {
  readonly column: string;
  readonly keptMs: number;
  /** Further conditions for the removal of a row. */
  readonly only?: string;
}

/** Tables and their retention. Candidates precede the evidence that they reference. Spec: S6.23, and ADR 0103 for cases not specified. */
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

/** Removes rows beyond their retention, and creates the partitions of the ledger for the months ahead. Resolves to undefined when another replica
 *  does it. Each batch is a separate transaction, so a failed pass keeps its finished batches, which were reported to `onRemoved`. */
export async function applyStoreRetention(
  pool: PostgresPool,
  nowMs: number,
  { batch = BATCH, onRemoved = () => {} }: { readonly batch?: number; readonly onRemoved?: (removed: Removed) => void } = {},
): Promise<Readonly<Record<RetainedTable, number>> | undefined> {
  const removed = noRowsRemoved();
  // Waits for rows being written, so it has a separate transaction. A lock inside it ensures that only one replica runs it.
  await pool.query('SELECT make_ledger_partitions($1)', [MONTHS_AHEAD]);
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
  return removed;
}

async function removeBatch(transaction: Transaction, table: RetainedTable, nowMs: number, batch: number): Promise<Removed> {
  const { column, keptMs, only = '' }: Kept = KEPT[table];
  // A row that was just updated, such as a reused idempotency key, has another ctid and stays.
  const old = `SELECT ctid FROM ${table} WHERE ${column} <= $1 ${only} LIMIT $2`;
  const [removed] = await transaction.query<Removed>(
    `WITH gone AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(${old})) RETURNING ${column} AS at)
     SELECT '${table}' AS what, count(*) AS count, min(at) AS oldest, max(at) AS newest FROM gone`,
    [new Date(nowMs - keptMs), batch],
  );
  return removed ?? { what: table, count: 0, oldest: 0, newest: 0 };
}

const INTERVAL_MS = 600_000;
const AT = 'docs/failure-modes.md#retention-of-the-store-api-that-fails';

export const RETENTION_INSTRUMENTS = {
  removed: counter('svc.retention.removed_total', '{row}', 'Rows that were removed because of their age, by table.', ['table']),
  failures: counter('svc.retention.failures_total', '{failure}', 'Passes of retention that failed.'),
};

interface StoreRetentionLogger extends RetentionLogger {
  error(fields: object, message: string): void;
}

interface RetentionTimes {
  readonly intervalMs?: number;
  /** Resolves when the database is available, so that passes can begin. */
  readonly ready?: Promise<void>;
}

/** Applies retention by the clock of the database, at once and every ten minutes, in one replica at a time. */
export class StoreRetention implements AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #logger: StoreRetentionLogger;
  readonly #clock = new RetentionClock(() => performance.now());
  readonly #log: RetentionLog;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;
  readonly #removed = noRowsRemoved();
  #failures = 0;
  #pass: Promise<void> | undefined;

  constructor(pool: PostgresPool, logger: StoreRetentionLogger, { intervalMs = INTERVAL_MS, ready }: RetentionTimes = {}) {
    this.#pool = pool;
    this.#logger = logger;
    this.#log = new RetentionLog(logger);
    if (ready === undefined) this.#begin(intervalMs);
    else void ready.then(() => this.#begin(intervalMs));
  }

  /** The values of `RETENTION_INSTRUMENTS`. */
  readings() {
    return { removed: RETAINED_TABLES.map((table) => [{ table }, this.#removed[table]] as const), failures: this.#failures };
  }

  /** Waits for the pass in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    clearInterval(this.#timer);
    await this.#pass;
  }

  #begin(intervalMs: number): void {
    if (this.#isDisposed) return;
    const start = () => void (this.#pass ??= this.#apply().finally(() => (this.#pass = undefined)));
    this.#timer = setInterval(start, intervalMs).unref();
    start();
  }

  async #apply(): Promise<void> {
    const all: Removed[] = [];
    try {
      const run = await advanceRetention(this.#pool, this.#clock, STORE_RETENTION);
      this.#log.began(run);
      const removed = await applyStoreRetention(this.#pool, run.at, { onRemoved: (gone) => void all.push(gone) });
      for (const table of RETAINED_TABLES) this.#removed[table] += removed?.[table] ?? 0;
    } catch (err) {
      this.#failures += 1;
      const fields = databaseErrorFields(err);
      this.#logger.error({ ...fields, next_step: `${fields.next_step}; ${AT}` }, 'store retention failed');
    } finally {
      this.#log.removed(all);
    }
  }
}
