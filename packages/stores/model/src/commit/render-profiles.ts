import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { PublicUrls } from '../profile/render-profile.ts';
import { renderStoredProfile } from './commit-observation.ts';

const PAGE = 500;
/** Stores rendered at once, each in a separate transaction, so that scans do not wait for other stores. */
const IN_PARALLEL = 4;

const SELECT_PAGE = `SELECT storefront_id, domain FROM stores WHERE storefront_id > $1 AND is_ecommerce AND last_completed_scan_at IS NOT NULL
  ORDER BY storefront_id LIMIT ${PAGE}`;

/** Renders all profiles again, for other URLs or another vocabulary, while the service runs. Resolves with their number. `onProgress` is called
 *  with the number done so far. */
export async function renderProfiles(pool: PostgresPool, urls: PublicUrls, onProgress: (done: number) => void): Promise<number> {
  let done = 0;
  let after = '';
  for (;;) {
    const page = await pool.query<{ storefront_id: string; domain: string }>(SELECT_PAGE, [after]);
    const queue = page.values();
    const work = async () => {
      for (const { domain } of queue) {
        const isRendered = await pool.transaction((transaction) => renderStoredProfile(transaction, domain, urls));
        if (isRendered) done += 1;
        onProgress(done);
      }
    };
    await Promise.all(Array.from({ length: IN_PARALLEL }, work));
    if (page.length < PAGE) return done;
    after = page.at(-1)?.storefront_id ?? '';
  }
}

/** The number of stores that have a profile. */
export async function countProfiles(pool: PostgresPool): Promise<number> {
  const [row] = await pool.query<{ profiles: number }>('SELECT count(*) AS profiles FROM stores WHERE profile IS NOT NULL');
  return row?.profiles ?? 0;
}
