import type { Transaction } from './transaction.ts';

// Advisory locks live as long as their transaction: those of a session would stay behind in a pooler. A name is hashed to 64 bits, in a
// space that the locks of node-pg-migrate do not reach in practice.

/** Waits for the lock, at most for the lock timeout. */
export async function lockByName(transaction: Transaction, name: string): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
}

/** Whether the lock was free; it is held from then on. */
export async function tryLockByName(transaction: Transaction, name: string): Promise<boolean> {
  const rows = await transaction.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked',
    [name],
  );
  return rows[0]?.locked === true;
}
