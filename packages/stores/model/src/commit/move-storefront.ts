import { tryLockByName } from '@vitrine/postgres/advisory-lock';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { Redirect } from '../signals/derivation-state.ts';
import { nameOfLock } from './known-store.ts';

/** Spec: S8.17. */
const SCANS_TO_MOVE = 2;

interface Row {
  readonly storefront_id: string;
  readonly brand_group_id: string | null;
}

const SELECT_MOVER = `SELECT storefront_id, brand_group_id FROM stores WHERE storefront_id = $1 AND moved_to IS NULL AND is_ecommerce`;
/** A domain that has moved or redirects is not a valid target. Chains are followed from their end, loops are not. */
const SELECT_TARGET = `SELECT s.storefront_id, s.brand_group_id FROM stores s JOIN derivations d USING (storefront_id)
  WHERE s.domain = $1 AND s.moved_to IS NULL AND s.is_ecommerce AND d.state -> 'redirect' = 'null'`;
const FREE_DOMAIN = `UPDATE stores SET domain = 'moving.' || storefront_id WHERE storefront_id = $1`;
/** Includes host and rank, which belong to the domain. It is scanned soon, because all facts are from its old domain. */
const TAKE_DOMAIN = `UPDATE stores a SET domain = $3, storefront_host = b.storefront_host, rank = b.rank, next_scan_at = now() FROM stores b
  WHERE a.storefront_id = $1 AND b.storefront_id = $2`;
const GIVE_DOMAIN = 'UPDATE stores SET domain = $2 WHERE storefront_id = $1';

interface Mover {
  readonly domain: string;
  readonly storefront_id: string;
  readonly redirect: Redirect | null;
}

/** Moves a storefront whose domain has redirected permanently to another domain of its brand group in two scans, and resolves with the domain that
 *  it has from then on; undefined when it does not move. It keeps its id, and both domains return it. The transaction has the lock of
 *  `domain`. If another commit has the lock of the other domain, it moves with the next scan. Spec: S2.3, S8.17. */
export async function moveStorefront(
  transaction: Transaction,
  { domain, storefront_id, redirect }: Mover,
): Promise<string | undefined> {
  if (redirect === null || redirect.count < SCANS_TO_MOVE) return undefined;
  const [mover] = await transaction.query<Row>(SELECT_MOVER, [storefront_id]);
  if (mover === undefined || mover.brand_group_id === null) return undefined;
  if (!(await tryLockByName(transaction, nameOfLock(redirect.domain)))) return undefined;
  const [target] = await transaction.query<Row>(SELECT_TARGET, [redirect.domain]);
  if (target === undefined || target.brand_group_id !== mover.brand_group_id) return undefined;
  // A domain has one row at any time.
  await transaction.execute(FREE_DOMAIN, [target.storefront_id]);
  await transaction.execute(TAKE_DOMAIN, [storefront_id, target.storefront_id, redirect.domain]);
  await transaction.execute(GIVE_DOMAIN, [target.storefront_id, domain]);
  await transaction.execute('UPDATE brand_facts SET domain = $2 WHERE storefront_id = $1', [storefront_id, redirect.domain]);
  await transaction.execute('DELETE FROM brand_facts WHERE storefront_id = $1', [target.storefront_id]);
  const point = 'UPDATE stores SET moved_to = $1 WHERE storefront_id = $2 OR moved_to = $2';
  await transaction.execute(point, [storefront_id, target.storefront_id]);
  return redirect.domain;
}
