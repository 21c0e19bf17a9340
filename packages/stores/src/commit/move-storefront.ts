import { tryLockByName } from '@vitrine/postgres/advisory-lock';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { Redirect } from '../signals/derivation-state.ts';
import { nameOfLock } from './known-store.ts';

/** Spec: decisions, section 4. */
const SCANS_TO_MOVE = 2;

interface Row {
  readonly storefront_id: string;
  readonly brand_group_id: string | null;
  readonly first_observed_at: number | null;
}

/** One that has moved itself, or redirects, is none to move to: chains are followed from their end, loops are not. */
const SELECT_TARGET = `SELECT s.storefront_id, s.brand_group_id, s.first_observed_at FROM stores s JOIN derivations d USING (storefront_id)
  WHERE s.domain = $1 AND s.moved_to IS NULL AND s.is_ecommerce AND d.state -> 'redirect' = 'null'`;
const FREE_DOMAIN = `UPDATE stores SET domain = 'moving.' || storefront_id WHERE storefront_id = $1`;
/** With host and rank, which are the domain's. */
const TAKE_DOMAIN = `UPDATE stores a SET domain = $3, storefront_host = b.storefront_host, rank = b.rank FROM stores b
  WHERE a.storefront_id = $1 AND b.storefront_id = $2`;
const GIVE_DOMAIN = 'UPDATE stores SET domain = $2 WHERE storefront_id = $1';

/** Moves a storefront whose domain has redirected permanently to another domain of its brand group in two scans, and resolves with the domain that
 *  the store has from then on; undefined when it does not move. Of the two storefronts the older one keeps its id; both domains answer with it.
 *  The transaction has the lock of `domain`; when another commit has that of the other, it moves with the next scan. */
export async function moveStorefront(
  transaction: Transaction,
  {
    domain,
    storefront_id,
    redirect,
  }: { readonly domain: string; readonly storefront_id: string; readonly redirect: Redirect | null },
): Promise<string | undefined> {
  if (redirect === null || redirect.count < SCANS_TO_MOVE) return undefined;
  const [mover] = await transaction.query<Row>(
    'SELECT storefront_id, brand_group_id, first_observed_at FROM stores WHERE storefront_id = $1 AND moved_to IS NULL AND is_ecommerce',
    [storefront_id],
  );
  if (mover === undefined || mover.brand_group_id === null) return undefined;
  if (!(await tryLockByName(transaction, nameOfLock(redirect.domain)))) return undefined;
  const [target] = await transaction.query<Row>(SELECT_TARGET, [redirect.domain]);
  if (target === undefined || target.brand_group_id !== mover.brand_group_id) return undefined;
  const isOlder = (mover.first_observed_at ?? Number.POSITIVE_INFINITY) <= (target.first_observed_at ?? 0);
  const [kept, moved] = isOlder ? [mover, target] : [target, mover];
  if (isOlder) {
    // A domain has one row at any time.
    await transaction.execute(FREE_DOMAIN, [target.storefront_id]);
    await transaction.execute(TAKE_DOMAIN, [mover.storefront_id, target.storefront_id, redirect.domain]);
    await transaction.execute(GIVE_DOMAIN, [target.storefront_id, domain]);
    await transaction.execute('UPDATE brand_facts SET domain = $2 WHERE storefront_id = $1', [
      kept.storefront_id,
      redirect.domain,
    ]);
  }
  await transaction.execute('DELETE FROM brand_facts WHERE storefront_id = $1', [moved.storefront_id]);
  const point = 'UPDATE stores SET moved_to = $1 WHERE storefront_id = $2 OR moved_to = $2';
  await transaction.execute(point, [kept.storefront_id, moved.storefront_id]);
  return redirect.domain;
}
