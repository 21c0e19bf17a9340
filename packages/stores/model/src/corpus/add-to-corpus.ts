import type { Queryable } from '@vitrine/postgres/connection';
import { createId } from '../identifiers.ts';

/** A domain from a source other than a scan. */
export interface CorpusEntry {
  /** Canonical. */
  readonly domain: string;
  /** Null keeps the rank. */
  readonly rank: number | null;
}

interface CorpusChange {
  readonly added: number;
  readonly ranked: number;
}

/** Sorted, so that two imports cannot wait for each other. */
const ADD = `WITH wanted AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::integer[]) AS w (storefront_id, domain, rank) ORDER BY domain
  ), changed AS (
    INSERT INTO stores AS s (storefront_id, domain, storefront_host, rank, state, state_as_of, is_ecommerce)
    SELECT storefront_id, domain, domain, rank, 'candidate', $4::timestamptz, FALSE FROM wanted
    ON CONFLICT (domain) DO UPDATE SET rank = excluded.rank WHERE excluded.rank IS NOT NULL AND s.rank IS DISTINCT FROM excluded.rank
    RETURNING storefront_id
  )
  SELECT count(*) FILTER (WHERE storefront_id = ANY ($1)) AS added, count(*) FILTER (WHERE NOT storefront_id = ANY ($1)) AS ranked
  FROM changed`;

/** Adds domains as candidates, which have no profile before their first completed observation, and sets the ranks of known ones. Each domain must
 *  occur once. */
export async function addToCorpus(
  database: Queryable,
  entries: readonly CorpusEntry[],
  at: number,
  random: (bytes: number) => Uint8Array,
): Promise<CorpusChange> {
  const [row] = await database.query<CorpusChange>(ADD, [
    entries.map(() => createId('sf', at, random)),
    entries.map(({ domain }) => domain),
    entries.map(({ rank }) => rank),
    new Date(at),
  ]);
  return row ?? { added: 0, ranked: 0 };
}
