import type { Transaction } from '@vitrine/postgres/transaction';
import { type PublicUrls, renderProfile } from '../profile/render-profile.ts';
import { storeStateOf, type DerivationState } from '../signals/derivation-state.ts';
import { readUnderRules } from './derive-stored-log.ts';
import { lockDomain } from './known-store.ts';
import type { Rules } from './rule-sets.ts';
import { readRecentSignals, shareProfile, writeStore } from './store-rows.ts';

interface Row {
  readonly domain: string;
  readonly brand_group_id: string | null;
  readonly moved_to: string | null;
  readonly first_observed_at: number | null;
  readonly registry_checksum: string | null;
  /** Null if another version of this program wrote it. Then the next observation derives it from the log. */
  readonly state: DerivationState | null;
}
const SELECT = `SELECT s.domain, s.brand_group_id, s.moved_to, s.first_observed_at, d.registry_checksum,
    CASE WHEN d.state ->> 'version' = '1' THEN d.state END AS state
  FROM stores s JOIN derivations d USING (storefront_id) WHERE s.storefront_id = $1`;
const MARK = 'UPDATE derivations SET registry_checksum = $2 WHERE storefront_id = $1';

export interface ReplayContext {
  readonly rules: Rules;
  readonly urls: PublicUrls;
}

/** Applies the current rules to the kept evidence of a store, and writes the resulting state and profile without signals. Resolves to false when
 *  there was nothing to do, because a commit was faster or the storefront was moving. Spec: S9.10. */
export async function replayStore(transaction: Transaction, storefrontId: string, context: ReplayContext): Promise<boolean> {
  const { rules, urls } = context;
  const [before] = await transaction.query<Row>(SELECT, [storefrontId]);
  if (before === undefined) return false;
  await lockDomain(transaction, before.domain);
  const [known] = await transaction.query<Row>(SELECT, [storefrontId]);
  if (known?.domain !== before.domain || known.registry_checksum === rules.registry_checksum) return false;
  if (known.state === null) {
    await transaction.execute(MARK, [storefrontId, rules.registry_checksum]);
    return true;
  }
  const derivation = await readUnderRules(transaction, known.state, rules, new Map());
  const { domain, brand_group_id } = known;
  const state = storeStateOf(derivation, { domain, storefront_id: storefrontId, brand_group_id });
  const recent = await readRecentSignals(transaction, storefrontId);
  await writeStore(transaction, {
    state,
    first_observed_at: known.first_observed_at ?? derivation.last.at,
    last_observation_id: derivation.last.observation_id,
    derivation,
    profile: state.is_ecommerce ? renderProfile(state, recent, urls) : undefined,
    observation: undefined,
    signals: [],
  });
  if (known.moved_to !== null) await shareProfile(transaction, storefrontId, false);
  return true;
}
