import type { Queryable } from '@vitrine/postgres/connection';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { wasNeverSent, classifyPostgresError, isReadTimeout } from '@vitrine/postgres/postgres-error';
import type { Transaction } from '@vitrine/postgres/transaction';
import { type UnitCounts, BILLING_UNITS } from '../resources/billing.ts';
import { chargeUsage, type Charge, type LedgerEntry } from './charge-usage.ts';
import {
  claimIdempotencyKey,
  storeResponse,
  type IdempotentRequest,
  type NewResponse,
  type StoredResponse,
} from './idempotency.ts';
import { codeOf, Fault } from '@vitrine/faults/fault';
import { setTimeout as sleep } from 'node:timers/promises';
import { timeOfId } from '../identifiers.ts';

/** The result of a request before billing: its response and its cost. */
export interface MeteredResult {
  readonly response: NewResponse;
  readonly entries: readonly LedgerEntry[];
}

export interface MeteredRequest {
  readonly charge: Omit<Charge, 'entries'>;
  /** Undefined without an Idempotency-Key. */
  readonly idempotency: IdempotentRequest | undefined;
  /** Called before units are committed. If it throws, for example because the client has left, everything is rolled back. */
  readonly beforeCommit?: () => void;
}

/** `used`: of the billing period, after the request; undefined when it cost nothing. `answered_anew`: instead of a replay that may no longer be
 *  shown. */
export type MeteredOutcome =
  | { readonly kind: 'completed'; readonly response: MeteredResult['response']; readonly used: UnitCounts | undefined }
  | { readonly kind: 'replayed'; readonly response: StoredResponse }
  | { readonly kind: 'answered_anew'; readonly response: NewResponse }
  | { readonly kind: 'conflict' | 'allowance_exhausted' };

/** Creates the response. If unbilled, it must change nothing. */
export type MeteredWork<Database> = (database: Database, isBilled: boolean) => Promise<MeteredResult>;

/** Runs a request that may cost: idempotency key, `work`, counters, ledger and stored response are one transaction, which is committed before
 *  this resolves. If anything fails, or the allowance does not cover all of it, nothing is billed and everything is rolled back. The
 *  counters are locked last, so that requests of a workspace wait for each other as briefly as possible. If the connection breaks at the
 *  COMMIT, the ledger is queried for the outcome. Faults: `billing_unknown` if the outcome cannot be determined. Spec: S6.11, S6.12. */
export async function runMetered(
  pool: PostgresPool,
  { charge, idempotency, beforeCommit }: MeteredRequest,
  work: MeteredWork<Transaction>,
): Promise<MeteredOutcome> {
  // Thrown to roll the transaction back.
  const exhausted = new Error('the allowance has no room for the request');
  let charged: { readonly charge: Charge; readonly outcome: MeteredOutcome } | undefined;
  try {
    return await pool.transaction(async (transaction): Promise<MeteredOutcome> => {
      const claim = idempotency === undefined ? undefined : await claimIdempotencyKey(transaction, idempotency);
      if (claim?.kind === 'replay') return { kind: 'replayed', response: claim.response };
      if (claim?.kind === 'conflict') return { kind: 'conflict' };
      if (claim?.kind === 'denied_since') return { kind: 'answered_anew', response: (await work(transaction, false)).response };
      const { response, entries } = await work(transaction, true);
      if (idempotency !== undefined) await storeResponse(transaction, idempotency, response);
      if (entries.length === 0) return { kind: 'completed', response, used: undefined };
      const used = await chargeUsage(transaction, { ...charge, entries });
      if (used === undefined) throw exhausted;
      beforeCommit?.();
      charged = { charge: { ...charge, entries }, outcome: { kind: 'completed', response, used } };
      return charged.outcome;
    });
  } catch (error) {
    if (error === exhausted) return { kind: 'allowance_exhausted' };
    if (charged === undefined || !isOutcomeLost(error)) throw error;
    if (await wasCharged(pool, charged.charge, idempotency !== undefined)) return charged.outcome;
    throw error;
  }
}

/** The same for a read-only request. Without an idempotency key it needs no transaction, because the charge is one statement. Saves the
 *  round trips of BEGIN and COMMIT. Faults: `billing_unknown`. */
export async function runMeteredRead(
  pool: PostgresPool,
  request: MeteredRequest,
  read: MeteredWork<Queryable>,
): Promise<MeteredOutcome> {
  if (request.idempotency !== undefined) return runMetered(pool, request, read);
  const { response, entries } = await read(pool, true);
  if (entries.length === 0) return { kind: 'completed', response, used: undefined };
  request.beforeCommit?.();
  const charge = { ...request.charge, entries };
  const used = await chargeUsage(pool, charge).catch((error: unknown) => {
    if (isOutcomeLost(error) && !wasNeverSent(error)) return chargeAgain(pool, charge);
    throw error;
  });
  return used === undefined ? { kind: 'allowance_exhausted' } : { kind: 'completed', response, used };
}

/** Pauses before the attempts to reach the database again: a failover takes seconds, and a client waits. */
const PAUSES_MS = [0, 250, 1_000, 3_000] as const;
const UNIQUE_VIOLATION = '23505';
const FIND_BILLED = `SELECT ${BILLING_UNITS.join(', ')} FROM usage_counters WHERE workspace_id = $1 AND starts_at = $2
  AND EXISTS (SELECT FROM ledger WHERE workspace_id = $1 AND operation_id = $3 AND created_at = $4)`;

/** Whether an error leaves open what became of the statement: its connection broke, or the server did not respond. */
export function isOutcomeLost(error: unknown): boolean {
  return classifyPostgresError(error) === 'connection' || isReadTimeout(error) || codeOf(error) === 'ETIMEDOUT';
}

/** Whether the transaction that made a charge was committed, after its COMMIT got no response: makes the charge once more, which first waits for
 *  that transaction to end and then meets its ledger rows or does not, and rolls that back. Faults: `billing_unknown`. */
function wasCharged(pool: PostgresPool, charge: Charge, isIdempotent: boolean): Promise<boolean> {
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

/** Makes a charge, a statement of its own, that got no response again: the ledger holds an operation once, whichever of the two comes first.
 *  Resolves as `chargeUsage`. Faults: `billing_unknown`. */
function chargeAgain(pool: PostgresPool, charge: Charge): Promise<UnitCounts | undefined> {
  const { workspace_id, period_starts_at, operation_id } = charge;
  return settled(false, async () => {
    try {
      const used = await chargeUsage(pool, charge);
      if (used !== undefined) return used;
    } catch (error) {
      if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
    }
    // Billed by the first, or without room: the first may have taken what was left.
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
