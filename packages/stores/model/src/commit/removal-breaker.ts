import type { Transaction } from '@vitrine/postgres/transaction';
import type { RemovalHold } from './known-store.ts';

/** If more than 5 % of its stores, and at least 20, lose a technology within a day, its rules are the more likely cause. Spec: S9.11. */
const MIN_LOSSES = 20;
const STORES_OF_A_LOSS = 20;
/** This many losses hold removals regardless of the base, so that no statement counts more than 20 times as many rows. */
const MAX_LOSSES = 5_000;
const HOLD_MS = 86_400_000;
const LOSSES_KEPT_DAYS = 7;

/** Records losses and counts them: all of the day, and as many stores with the technology as the decision needs. The store being committed still
 *  has it. The count does not include its loss, because it is in the same statement. */
const RECORD = `WITH recorded AS (
    INSERT INTO technology_losses SELECT slug, $2, $3 FROM unnest($1::text[]) AS slug ON CONFLICT DO NOTHING
  ), expired AS (
    DELETE FROM technology_losses WHERE slug = ANY ($1) AND day < least($2::date, (now() AT TIME ZONE 'UTC')::date) - ${LOSSES_KEPT_DAYS}
  ), lost AS MATERIALIZED (
    SELECT slug, 1 + (SELECT count(*) FROM (SELECT FROM technology_losses l
      WHERE l.slug = w.slug AND l.day = $2 AND l.storefront_id <> $3 LIMIT ${MAX_LOSSES}) AS counted) AS losses
    FROM unnest($1::text[]) AS w (slug)
  )
  SELECT slug, losses, losses - 1 + CASE WHEN losses < ${MIN_LOSSES} OR losses >= ${MAX_LOSSES} THEN 0 ELSE (
    SELECT count(*) FROM (SELECT FROM store_technologies t WHERE t.slug = lost.slug AND t.install_state <> 'inactive'
      LIMIT lost.losses * ${STORES_OF_A_LOSS}) AS counted) END AS base
  FROM lost`;
const HOLD = `INSERT INTO removal_holds SELECT slug, $2, $3, losses, base FROM unnest($1::text[], $4::integer[], $5::integer[]) AS w (slug, losses, base)
  ON CONFLICT DO NOTHING`;

interface Loss {
  readonly slug: string;
  readonly losses: number;
  /** Stores that had it at the start of the day, as far as they were counted. */
  readonly base: number;
}

/** Records that a store lost technologies, and holds removals of technologies that too many stores have lost. Resolves with the new holds. Losses
 *  of concurrent transactions are not visible, so one more per scanner may pass. */
export async function recordLosses(
  transaction: Transaction,
  { slugs, storefront_id, at }: { readonly slugs: readonly string[]; readonly storefront_id: string; readonly at: number },
): Promise<RemovalHold[]> {
  if (slugs.length === 0) return [];
  const day = new Date(at).toISOString().slice(0, 10);
  const losses = await transaction.query<Loss>(RECORD, [slugs.toSorted(), day, storefront_id]);
  const held = losses.filter(isTooMany);
  if (held.length === 0) return [];
  const until = at + HOLD_MS;
  const columns = [held.map(({ losses: n }) => n), held.map(({ base }) => base)];
  await transaction.execute(HOLD, [held.map(({ slug }) => slug), new Date(at), new Date(until), ...columns]);
  return held.map(({ slug }) => ({ slug, from: at, until }));
}

function isTooMany({ losses, base }: Loss): boolean {
  return losses >= MAX_LOSSES || (losses >= MIN_LOSSES && losses * STORES_OF_A_LOSS > base);
}
