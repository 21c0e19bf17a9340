import { lockByName } from '@vitrine/postgres/advisory-lock';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { Signal } from '../profile/store-state.ts';
import { MAX_RECENT_SIGNALS } from '../resources/store.ts';
import type { DerivationState } from '../signals/derivation-state.ts';
import type { Observation } from '../observation/observation-facts.ts';

/** Removals of a technology confirmed within this time are not applied. */
export interface RemovalHold {
  readonly slug: string;
  readonly from: number;
  readonly until: number;
}

/** The stored facts when an observation is committed. */
export interface KnownStore {
  /** Null if the domain has no row. */
  readonly storefront_id: string | null;
  readonly domain: string | null;
  readonly brand_group_id: string | null;
  readonly last_completed_scan_at: number | null;
  /** The storefront whose profile this domain has. */
  readonly moved_to: string | null;
  /** Null before the first completed observation, or if another version of this program wrote it. */
  readonly derivation: DerivationState | null;
  readonly recent_signals: readonly Signal[];
  /** Holds that end after the observation. */
  readonly holds: readonly RemovalHold[];
  /** Whether the observation is in the log. */
  readonly is_logged: boolean;
  readonly has_rule_set: boolean;
}

const SELECT = `SELECT s.storefront_id, s.domain, s.brand_group_id, s.last_completed_scan_at, s.moved_to,
    CASE WHEN d.state ->> 'version' = '1' THEN d.state END AS derivation,
    EXISTS (SELECT FROM observations WHERE id = $2) AS is_logged,
    EXISTS (SELECT FROM rule_sets WHERE registry_checksum = $3) AS has_rule_set,
    (SELECT coalesce(json_agg(r), '[]') FROM (
      SELECT id, type, technology, "from", "to", round(extract(epoch FROM effective_at) * 1000)::bigint AS effective_at,
        round(extract(epoch FROM confirmed_at) * 1000)::bigint AS confirmed_at, confidence
      FROM signals WHERE storefront_id = s.storefront_id AND withdrawn_at IS NULL ORDER BY signals.confirmed_at DESC, id LIMIT ${MAX_RECENT_SIGNALS}
    ) r) AS recent_signals,
    (SELECT coalesce(json_agg(json_build_object('slug', slug, 'from', round(extract(epoch FROM held_from) * 1000)::bigint,
      'until', round(extract(epoch FROM held_until) * 1000)::bigint)), '[]') FROM removal_holds WHERE held_until > $4) AS holds
  FROM (VALUES (1)) AS always LEFT JOIN stores s ON s.domain = $1 LEFT JOIN derivations d ON d.storefront_id = s.storefront_id`;

/** Locks a domain against other commits until the transaction ends, with or without a row. */
export function lockDomain(transaction: Transaction, domain: string): Promise<void> {
  return lockByName(transaction, nameOfLock(domain));
}

export function nameOfLock(domain: string): string {
  return `vitrine.store.${domain}`;
}

/** Reads a store in one statement; the transaction has locked its domain. */
export async function readKnownStore(transaction: Transaction, observation: Observation): Promise<KnownStore> {
  const { id, registry_checksum, completed_at, facts } = observation;
  const values = [facts.domain, id, registry_checksum, new Date(completed_at)];
  const [known] = await transaction.query<KnownStore>(SELECT, values, { name: 'read-known-store' });
  if (known === undefined) throw new Error('invariant violated: a statement on one row returned none');
  return known;
}
