import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { saveRuleSet, type Rules } from './rule-sets.ts';

/** Rows that a claim examines, so that it is short however many stores are already up to date. */
const PAGE = 500;
/** Between two passes: for stores that failed, or that another process had claimed and not replayed. */
const PASS_SEC = 600;

const REMAINING = 'SELECT count(*)::integer FROM derivations WHERE registry_checksum IS DISTINCT FROM $1';
const REGISTER = `INSERT INTO registry_replays (registry_checksum, remaining) SELECT $1, (${REMAINING}) ON CONFLICT DO NOTHING`;
/** Stores follow the most recently introduced registry, so that two running versions do not undo each other's work. */
const LOCK = `SELECT after_storefront_id, remaining, finished_at IS NOT NULL AS is_finished, next_pass_at <= now() AS is_due,
    NOT EXISTS (SELECT FROM registry_replays n WHERE (n.first_seen_at, n.registry_checksum) > (r.first_seen_at, r.registry_checksum)) AS is_newest
  FROM registry_replays r WHERE registry_checksum = $1 FOR UPDATE SKIP LOCKED`;
const SELECT_PAGE = `SELECT storefront_id, registry_checksum IS DISTINCT FROM $2 AS is_due FROM derivations
  WHERE storefront_id > $1 ORDER BY storefront_id LIMIT ${PAGE}`;
const ADVANCE =
  'UPDATE registry_replays SET after_storefront_id = $2, remaining = greatest(0, remaining - $3::integer) WHERE registry_checksum = $1';
const END_PASS = `UPDATE registry_replays SET after_storefront_id = '', remaining = left_over, next_pass_at = now() + make_interval(secs => ${PASS_SEC}),
    finished_at = CASE WHEN left_over = 0 THEN now() END
  FROM (SELECT (${REMAINING}) AS left_over) AS counted WHERE registry_checksum = $1`;

interface Progress {
  readonly after_storefront_id: string;
  readonly remaining: number;
  readonly is_finished: boolean;
  readonly is_due: boolean;
  readonly is_newest: boolean;
}

/** Stores that this process has to replay now. `remaining`: of all processes; undefined while another one claims. */
interface ClaimedReplays {
  readonly storefrontIds: readonly string[];
  /** Whether there may be more at once. */
  readonly hasMore: boolean;
  readonly remaining: number | undefined;
}

/** Claims at most `limit` of the next stores with other rules than the current ones. Every process may claim, and each gets different stores.
 *  Stores of a dead process are left to the next pass. */
export function claimReplays(pool: PostgresPool, rules: Rules, limit: number): Promise<ClaimedReplays> {
  return pool.transaction(async (transaction) => {
    const checksum = rules.registry_checksum;
    const known = await transaction.query('SELECT FROM registry_replays WHERE registry_checksum = $1', [checksum]);
    if (known.length === 0) {
      await saveRuleSet(transaction, rules);
      await transaction.execute(REGISTER, [checksum]);
    }
    const [progress] = await transaction.query<Progress>(LOCK, [checksum]);
    if (progress === undefined) return { storefrontIds: [], hasMore: true, remaining: undefined };
    const { remaining, is_finished, is_due, is_newest } = progress;
    if (is_finished || !is_due || !is_newest) return { storefrontIds: [], hasMore: false, remaining: is_newest ? remaining : 0 };
    return claimPage(transaction, checksum, progress, limit);
  });
}

async function claimPage(
  transaction: Transaction,
  checksum: string,
  { after_storefront_id: after, remaining }: Progress,
  limit: number,
): Promise<ClaimedReplays> {
  const rows = await transaction.query<{ storefront_id: string; is_due: boolean }>(SELECT_PAGE, [after, checksum]);
  const lastRow = rows.at(-1);
  if (lastRow === undefined) {
    await transaction.execute(END_PASS, [checksum]);
    return { storefrontIds: [], hasMore: false, remaining };
  }
  const storefrontIds = rows
    .filter(({ is_due }) => is_due)
    .slice(0, limit)
    .map(({ storefront_id }) => storefront_id);
  const last = storefrontIds.length < limit ? lastRow.storefront_id : (storefrontIds.at(-1) ?? lastRow.storefront_id);
  await transaction.execute(ADVANCE, [checksum, last, storefrontIds.length]);
  return { storefrontIds, hasMore: true, remaining: Math.max(0, remaining - storefrontIds.length) };
}
