import type { PostgresPool } from '@vitrine/postgres/postgres-pool';

/** What every request needs of the tables and of the role's rights; rejects where that is missing, and on a server that takes no writes. */
export async function canServe(pool: PostgresPool): Promise<void> {
  await pool.query('SELECT FROM api_keys, stores, idempotency_keys LIMIT 0');
  // It changes no row, and is refused where none could be changed.
  await pool.query('UPDATE request_leases SET expires_at = expires_at WHERE FALSE');
}
