import type { Transaction } from './transaction.ts';

// Advisory locks last as long as their transaction, because those of a session would be left behind in a pooler. A name is hashed to 64
// bits, in a space that the locks of node-pg-migrate do not reach in practice.

/** Waits for the lock, at most for the lock timeout. */
export async function lockByName(transaction: Transaction, name: string): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
}

/** Whether the lock was free. If so, it is now taken. */
export async function tryLockByName(transaction: Transaction, name: string): Promise<boolean> {
  const rows = await transaction.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked',
    [name],
  );
  return rows[0]?.locked === true;
}
