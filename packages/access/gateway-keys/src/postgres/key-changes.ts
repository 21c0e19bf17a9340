import { lockByName } from '@vitrine/postgres/advisory-lock';
import type { Queryable } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { KeyChanges } from '../key-store.ts';
import { keyRowOf, SELECT_ACTIVE_KEYS } from './key-row.ts';

/** The channel on which changes are notified, with the name of the writer. */
export const KEY_CHANNEL = 'gateway_keys';
/** Held by every transaction that changes keys or token hashes. It is released after the commit is visible, so that revisions are committed
 *  in order: who sees one sees all before it. Of a sequence, a lower number may be committed after a higher one. */
const LOCK = 'vitrine.gateway_keys';

export async function lockKeys(transaction: Transaction): Promise<void> {
  await lockByName(transaction, LOCK);
}

/** The last change that another process has made. It may become less, when the same key is changed here. */
export async function lastForeignRevision(database: Queryable, writer: string): Promise<number> {
  const last = 'SELECT coalesce(max(revision), 0) AS n FROM gateway_keys WHERE changed_by <> $1';
  const [row] = await database.query<{ n: number }>(last, [writer]);
  return row?.n ?? 0;
}

async function lastRevision(database: Queryable): Promise<number> {
  const [row] = await database.query<{ n: number }>('SELECT coalesce(max(revision), 0) AS n FROM gateway_keys');
  return row?.n ?? 0;
}

/** To be called under the lock. Other processes are notified when the transaction commits. */
export async function nextRevision(transaction: Transaction, writer: string): Promise<number> {
  await transaction.query('SELECT pg_notify($1, $2)', [KEY_CHANNEL, writer]);
  return (await lastRevision(transaction)) + 1;
}

/** To be called in a transaction with one snapshot: a change that is committed between these reads would be skipped for ever. */
export async function readChanges(snapshot: Transaction, since: number): Promise<KeyChanges> {
  const [store] = await snapshot.query<{ id: string }>('SELECT id FROM gateway_key_store');
  const revision = await lastRevision(snapshot);
  const active = await snapshot.query(`${SELECT_ACTIVE_KEYS} AND revision > $1`, [since]);
  const revoked = 'SELECT id, revision FROM gateway_keys WHERE revision > $1 AND revoked_at IS NOT NULL';
  return {
    store: store?.id ?? '',
    revision,
    active: active.map(keyRowOf),
    revoked: since === 0 ? [] : await snapshot.query<{ id: string; revision: number }>(revoked, [since]),
  };
}
