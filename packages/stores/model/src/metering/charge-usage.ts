import type { Queryable } from '@vitrine/postgres/connection';
import { timeOfId } from '../identifiers.ts';
import { BILLING_UNITS, type BillingUnit, type UnitCounts } from '../resources/billing.ts';

/** One billed unit. */
export interface LedgerEntry {
  readonly domain: string;
  readonly unit: BillingUnit;
}

export interface Charge {
  readonly workspace_id: string;
  readonly key_id: string;
  /** Created by the server for each request; billed at most once for each domain and unit. */
  readonly operation_id: string;
  readonly period_starts_at: number;
  readonly allowance: UnitCounts | undefined;
  readonly entries: readonly LedgerEntry[];
}

const UNITS = BILLING_UNITS.join(', ');
/** `$4` to `$7`: the units of the request; `$8` to `$11`: the allowance. */
const AMOUNTS = BILLING_UNITS.map((_, i) => `$${i + 4}::bigint`).join(', ');
const fits = (used: (unit: string) => string) =>
  BILLING_UNITS.map((unit, i) => `($${i + 4} = 0 OR coalesce(${used(unit)}$${i + 4} <= $${i + 8}::bigint, true))`).join(' AND ');
const added = (table: string) => BILLING_UNITS.map((unit) => `${unit} = ${table}.${unit} + excluded.${unit}`).join(', ');
const CHARGE = `WITH counted AS (
    INSERT INTO usage_counters AS c (workspace_id, starts_at, ${UNITS}) SELECT $1, $2::timestamptz, ${AMOUNTS} WHERE ${fits(() => '')}
    ON CONFLICT (workspace_id, starts_at) DO UPDATE SET ${added('c')} WHERE ${fits((unit) => `c.${unit} + `)}
    RETURNING ${UNITS}
  ), by_key AS (
    INSERT INTO usage_by_key AS k (workspace_id, starts_at, key_id, ${UNITS}) SELECT $1, $2, $3::text, ${AMOUNTS} FROM counted
    ON CONFLICT (workspace_id, starts_at, key_id) DO UPDATE SET ${added('k')}
  ), entries AS (
    INSERT INTO ledger (workspace_id, operation_id, domain, unit, created_at, key_id, period_starts_at)
    SELECT $1, $12, entry.*, $13, $3, $2 FROM counted, unnest($14::text[], $15::text[]) AS entry
  )
  SELECT * FROM counted`;

/** Updates the counters of workspace and key and writes the ledger, or does nothing if the entries together exceed the allowance. Resolves with
 *  the units of the period afterwards; undefined if they do not fit. Concurrent charges of a workspace wait for each other until they commit; one
 *  statement, so it needs no transaction of its own. */
export async function chargeUsage(database: Queryable, charge: Charge): Promise<UnitCounts | undefined> {
  const { workspace_id, key_id, operation_id, period_starts_at, allowance, entries } = charge;
  const amounts = BILLING_UNITS.map((unit) => entries.filter((entry) => entry.unit === unit).length);
  const [used] = await database.query<UnitCounts>(
    CHARGE,
    [
      workspace_id,
      new Date(period_starts_at),
      key_id,
      ...amounts,
      ...BILLING_UNITS.map((unit) => allowance?.[unit] ?? null),
      operation_id,
      new Date(timeOfId(operation_id)),
      entries.map(({ domain }) => domain),
      entries.map(({ unit }) => unit),
    ],
    { name: 'charge_usage' },
  );
  return used;
}
