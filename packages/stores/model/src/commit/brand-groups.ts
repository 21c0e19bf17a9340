import { tryLockByName } from '@vitrine/postgres/advisory-lock';
import type { Transaction } from '@vitrine/postgres/transaction';
import { createHash } from 'node:crypto';
import { MAX_SHARING, storesOfBrand, type BrandFacts } from '../brands/brand-facts.ts';
import { createId } from '../identifiers.ts';
import { nameOfLock } from './known-store.ts';

interface Other extends BrandFacts {
  readonly brand_group_id: string | null;
}

/** Stores that may share a fact, one more than a fact may have: by each fact through its index. */
const SELECT_OTHERS = `WITH ids AS (
    (SELECT storefront_id FROM brand_facts WHERE shop_id = $2 AND storefront_id <> $1 LIMIT ${MAX_SHARING + 1})
    UNION (SELECT storefront_id FROM brand_facts WHERE organization_domain = $3 AND storefront_id <> $1 LIMIT ${MAX_SHARING + 1})
    UNION (SELECT storefront_id FROM brand_facts WHERE organization_ids && $4 AND storefront_id <> $1 LIMIT ${MAX_SHARING + 1})
    UNION (SELECT storefront_id FROM brand_facts WHERE domain = ANY ($5) AND storefront_id <> $1)
  )
  SELECT f.*, s.brand_group_id FROM ids JOIN brand_facts f USING (storefront_id) JOIN stores s USING (storefront_id) ORDER BY f.domain`;
/** Facts that this scan did not read are unchanged. */
const UPSERT = `INSERT INTO brand_facts AS b (storefront_id, domain, shop_id, organization_domain, organization_ids, hreflang_domains)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (storefront_id) DO UPDATE SET domain = excluded.domain, shop_id = coalesce(excluded.shop_id, b.shop_id),
    organization_domain = coalesce(excluded.organization_domain, b.organization_domain),
    organization_ids = CASE WHEN excluded.organization_ids = '{}' THEN b.organization_ids ELSE excluded.organization_ids END,
    hreflang_domains = CASE WHEN excluded.hreflang_domains = '{}' THEN b.hreflang_domains ELSE excluded.hreflang_domains END`;

interface BrandGroup {
  readonly brand_group_id: string;
  /** Domains of other stores that have to get this group. */
  readonly others: readonly string[];
}

/** The brand group of a store from its own facts and those of others; undefined if there is none. Which of two groups remains does not depend on
 *  the scanned store. */
export async function findBrandGroup(
  transaction: Transaction,
  facts: BrandFacts,
  known: string | null,
  at: number,
): Promise<BrandGroup | undefined> {
  const { storefront_id, shop_id, organization_domain, organization_ids, hreflang_domains } = facts;
  const values = [storefront_id, shop_id, organization_domain, organization_ids, hreflang_domains];
  const brand = storesOfBrand(facts, await transaction.query<Other>(SELECT_OTHERS, values, { name: 'stores-of-brand' }));
  if (brand.length === 0) return undefined;
  const ids = [known, ...brand.map(({ brand_group_id }) => brand_group_id)].filter((id) => id !== null);
  const members = [storefront_id, ...brand.map((other) => other.storefront_id)].toSorted();
  const brand_group_id = ids.toSorted()[0] ?? groupIdOf(members, at);
  const others = brand.filter((other) => other.brand_group_id !== brand_group_id).map(({ domain }) => domain);
  return { brand_group_id, others };
}

export async function saveBrandFacts(transaction: Transaction, facts: BrandFacts): Promise<void> {
  const { storefront_id, domain, shop_id, organization_domain, organization_ids, hreflang_domains } = facts;
  await transaction.execute(UPSERT, [storefront_id, domain, shop_id, organization_domain, organization_ids, hreflang_domains]);
}

/** Assigns a group to a store unless another transaction has locked its domain. Such a store gets it with its next scan, because waiting for each
 *  other's domains could deadlock. Then resolves to false. */
export async function joinBrandGroup(transaction: Transaction, domain: string, brandGroupId: string): Promise<boolean> {
  if (!(await tryLockByName(transaction, nameOfLock(domain)))) return false;
  await transaction.execute('UPDATE stores SET brand_group_id = $2 WHERE domain = $1', [domain, brandGroupId]);
  return true;
}

/** Deterministic for the same stores. */
function groupIdOf(members: readonly string[], at: number): string {
  return createId('bg', at, (bytes) => createHash('sha256').update(members.join('|')).digest().subarray(0, bytes));
}
