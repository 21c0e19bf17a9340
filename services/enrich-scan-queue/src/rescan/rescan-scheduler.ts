import { tryLockByName } from '@vitrine/postgres/advisory-lock';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { queueScans } from '@vitrine/stores/scans/queue-scans';

const LOCK = 'vitrine.rescan_scheduler';
/** Maximum stores per run. */
const BATCH = 200;
/** Random jitter of a store's next scan in both directions, as a share of the cadence. */
const JITTER = 0.1;

/** Due stores, active ones first. Rows locked by a committing scan are left for the next run. */
const dueWhere = (state: string) =>
  `SELECT domain FROM stores WHERE ${state} AND next_scan_at <= now() ORDER BY next_scan_at LIMIT $1 FOR UPDATE SKIP LOCKED`;
const SELECT_DUE = `WITH active AS (${dueWhere(`state = 'active_storefront'`)}), others AS (${dueWhere(`state <> 'active_storefront'`)})
  SELECT domain FROM active UNION ALL SELECT domain FROM others LIMIT $1`;
const MOVE = `UPDATE stores SET next_scan_at = now() + make_interval(secs => $2::double precision / 1000 * (1 + $3 * (2 * random() - 1))) WHERE domain = ANY ($1)`;
const COUNT_OPEN = `SELECT count(*)::int AS open FROM scan_jobs WHERE status IN ('queued', 'running') AND cause = 'routine'`;

export interface RescanOptions {
  readonly cadenceMs: number;
  /** Routine scans that may be open at once. */
  readonly maxOpen: number;
  readonly createId: () => string;
}

/** `not_leading`: another process holds the lock. */
type RescanRun = { readonly result: 'queued'; readonly scans: number; readonly due: number } | { readonly result: 'not_leading' };

/** Queues routine scans of due stores, within the limit of open scans, and moves their next scan by the cadence. This also applies to a store
 *  whose scan fails, so that it is not scanned repeatedly. One process does so at a time. Spec: S8.14. */
export function queueRescans(pool: PostgresPool, options: RescanOptions): Promise<RescanRun> {
  const { maxOpen, createId } = options;
  return pool.transaction(async (transaction) => {
    if (!(await tryLockByName(transaction, LOCK))) return { result: 'not_leading' };
    const [row] = await transaction.query<{ open: number }>(COUNT_OPEN);
    const room = Math.min(BATCH, maxOpen - (row?.open ?? 0));
    if (room <= 0) return { result: 'queued', scans: 0, due: 0 };
    const domains = (await transaction.query<{ domain: string }>(SELECT_DUE, [room])).map(({ domain }) => domain);
    if (domains.length === 0) return { result: 'queued', scans: 0, due: 0 };
    await moveNextScan(transaction, domains, options.cadenceMs);
    const queued = await queueScans(transaction, { domains, cause: 'routine', createId });
    const scans = [...queued.values()].filter(({ state }) => state === 'new').length;
    return { result: 'queued', scans, due: domains.length };
  });
}

/** Sets the next scan of these stores to one cadence from now, plus or minus a tenth. */
export async function moveNextScan(transaction: Transaction, domains: readonly string[], cadenceMs: number): Promise<void> {
  await transaction.execute(MOVE, [domains, cadenceMs, JITTER]);
}
