import type { Queryable } from '@vitrine/postgres/connection';
import type { Technology } from '@vitrine/registry/technology';

const COLUMNS = ['slug', 'name', 'kind', 'category', 'vendor', 'website'] as const;

/** Adds technologies to the vocabulary of the database and updates those that are there; none is removed, because customers store slugs. Resolves
 *  with the number of rows that are new or differ. */
export function importVocabulary(database: Queryable, technologies: readonly Technology[]): Promise<number> {
  const set = COLUMNS.slice(1).map((column) => `${column} = excluded.${column}`);
  const text = `INSERT INTO technologies AS t (${COLUMNS.join(', ')})
    SELECT * FROM unnest(${COLUMNS.map((_, i) => `$${i + 1}::text[]`).join(', ')})
    ON CONFLICT (slug) DO UPDATE SET ${set.join(', ')} WHERE t IS DISTINCT FROM excluded`;
  return database.execute(
    text,
    COLUMNS.map((column) => technologies.map((technology) => technology[column])),
  );
}
