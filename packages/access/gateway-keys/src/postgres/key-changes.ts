import { lockByName } from '@vitrine/postgres/advisory-lock';
import type { Queryable } from '@vitrine/postgres/connection';
import { NotifiedPoll } from '@vitrine/postgres/notified-poll';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { KeyChanges } from '../key-store.ts';
import { keyRowOf, SELECT_ACTIVE_KEYS } from './key-row.ts';

/** The channel on which changes are notified, with the name of the writer. */
const KEY_CHANNEL = 'gateway_keys';
/** Taken by every transaction that changes keys or token hashes. It is released after the commit is visible, so that revisions are committed in
 *  order: a reader that sees one sees all before it. A sequence may commit a lower number after a higher one. */
const LOCK = 'vitrine.gateway_keys';

/** Runs a transaction that changes keys. */
export function changeKeys<T>(
  database: Pick<PostgresPool, 'transaction'>,
  change: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(async (transaction) => {
    await lockByName(transaction, LOCK);
    return await change(transaction);
  });
}

/** The last change that another process has made. It may decrease when the same key is changed here. */
async function lastForeignRevision(database: Queryable, writer: string): Promise<number> {
  const last = 'SELECT coalesce(max(revision), 0) AS n FROM gateway_keys WHERE changed_by <> $1';
  const [row] = await database.query<{ n: number }>(last, [writer]);
  return row?.n ?? 0;
}

async function lastRevision(database: Queryable): Promise<number> {
  const [row] = await database.query<{ n: number }>('SELECT coalesce(max(revision), 0) AS n FROM gateway_keys');
  return row?.n ?? 0;
}

/** Call it under the lock. Other processes are notified when the transaction commits. */
export async function nextRevision(transaction: Transaction, writer: string): Promise<number> {
  await transaction.query('SELECT pg_notify($1, $2)', [KEY_CHANNEL, writer]);
  return (await lastRevision(transaction)) + 1;
}

/** Call it in a transaction with one snapshot, because a change committed between these reads would be skipped forever. */
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

export interface KeyWatch extends AsyncDisposable {
  /** Resolves when the present state was read, or could not be read. Later changes are detected. */
  readonly ready: Promise<void>;
}

/** Calls `onChange` after another process has changed a key. It polls on notifications and at an interval, and only the rows decide.
 *  `writer`: the name of this process in `changed_by`. */
export function watchKeys(pool: PostgresPool, writer: string, onChange: () => void, intervalMs?: number): KeyWatch {
  let known: number | undefined;
  let isFailing = false;
  let isOver = false;
  const look = async () => {
    try {
      const found = await lastForeignRevision(pool, writer);
      const isNew = known !== undefined && found > known;
      known = Math.max(known ?? 0, found);
      isFailing = false;
      if (isNew && !isOver) onChange();
    } catch {
      // The watcher then reads the changes and gets the fault with the reason at once.
      if (!isFailing && !isOver) onChange();
      isFailing = true;
    }
  };
  const poll = new NotifiedPoll(pool, { channel: KEY_CHANNEL, look, isRelevant: (by) => by !== writer, intervalMs });
  const stop = () => {
    isOver = true;
    return poll[Symbol.asyncDispose]();
  };
  return { ready: poll.ready, [Symbol.asyncDispose]: stop };
}
