import type { Queryable } from '@vitrine/postgres/connection';

/** A domain that is never scanned and never shown. */
interface DeniedDomain {
  readonly domain: string;
  readonly reason: string;
  readonly created_at: number;
}

/** Resolves to false when the domain was already on the list; then its reason is replaced. `domain` is canonical. */
export async function denyDomain(database: Queryable, domain: string, reason: string): Promise<boolean> {
  const text = `INSERT INTO domain_denylist (domain, reason) VALUES ($1, $2)
    ON CONFLICT (domain) DO UPDATE SET reason = excluded.reason RETURNING xmax = 0 AS is_new`;
  const [row] = await database.query<{ is_new: boolean }>(text, [domain, reason]);
  return row?.is_new === true;
}

/** Resolves to false when the domain was not on the list. */
export async function allowDomain(database: Queryable, domain: string): Promise<boolean> {
  return (await database.execute('DELETE FROM domain_denylist WHERE domain = $1', [domain])) > 0;
}

export function readDenylist(database: Queryable): Promise<DeniedDomain[]> {
  return database.query<DeniedDomain>('SELECT domain, reason, created_at FROM domain_denylist ORDER BY domain');
}
