import { codeOf, Fault } from '@vitrine/faults/fault';
import { classifyPostgresError, isReadTimeout } from '@vitrine/postgres/postgres-error';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { setTimeout as sleep } from 'node:timers/promises';
import { timeOfId } from '../identifiers.ts';
import { BILLING_UNITS, type UnitCounts } from '../resources/billing.ts';
import { chargeUsage, type Charge } from './charge-usage.ts';

/** Pauses before the attempts to reach the database again: a failover takes seconds, and a client waits. */
const PAUSES_MS = [0, 250, 1_000, 3_000] as const;
const UNIQUE_VIOLATION = '23505';
const FIND_BILLED = `SELECT ${BILLING_UNITS.join(', ')} FROM usage_counters WHERE workspace_id = $1 AND starts_at = $2
  AND EXISTS (SELECT FROM ledger WHERE workspace_id = $1 AND operation_id = $3 AND created_at = $4)`;

/** Whether an error leaves the outcome of the statement unknown: its connection broke, or the server did not respond. */
export function isOutcomeLost(error: unknown): boolean {
  return classifyPostgresError(error) === 'connection' || isReadTimeout(error) || codeOf(error) === 'ETIMEDOUT';
}

/**
 * Whether the transaction that made a charge was committed, after its COMMIT got no response: repeats the charge, which first waits for
 * that transaction to end and then finds its ledger rows or not, and rolls the repetition back. Faults: `billing_unknown`.
 */
export function wasCharged(pool: PostgresPool, charge: Charge, isIdempotent: boolean): Promise<boolean> {
  const unmet = new Error('the charge was not committed');
  return settled(isIdempotent, async () => {
    try {
      return await pool.transaction(async (transaction): Promise<true> => {
        await chargeUsage(transaction, { ...charge, allowance: undefined });
        throw unmet;
      });
    } catch (error) {
      if (error === unmet) return false;
      if (codeOf(error) === UNIQUE_VIOLATION) return true;
      throw error;
    }
  });
}

/**
 * Repeats a charge that is a separate statement and got no response. The ledger stores an operation once, whichever of the two comes
 * first. Resolves like `chargeUsage`. Faults: `billing_unknown`.
 */
export function chargeAgain(pool: PostgresPool, charge: Charge): Promise<UnitCounts | undefined> {
  const { workspace_id, period_starts_at, operation_id } = charge;
  return settled(false, async () => {
    try {
      const used = await chargeUsage(pool, charge);
      if (used !== undefined) return used;
    } catch (error) {
      if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    }
    // Billed by the first, or beyond the allowance, because the first may have used the rest.
    const values = [workspace_id, new Date(period_starts_at), operation_id, new Date(timeOfId(operation_id))];
    return (await pool.query<UnitCounts>(FIND_BILLED, values))[0];
  });
}

async function settled<T>(isIdempotent: boolean, settle: () => Promise<T>): Promise<T> {
  let last: unknown;
  for (const pauseMs of PAUSES_MS) {
    await sleep(pauseMs);
    try {
      return await settle();
    } catch (error) {
      last = error;
      if (!isOutcomeLost(error)) break;
    }
  }
  const after = isIdempotent
    ? 'send it again with the same Idempotency-Key, which bills it once'
    : 'GET /v1/usage shows what was billed, and with an Idempotency-Key it could be sent again';
  const say = `The database was lost while the request was billed, and it may have been billed: ${after}.`;
  throw new Fault('billing_unknown', { say, cause: last });
}
