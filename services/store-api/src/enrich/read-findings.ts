import type { Queryable } from '@vitrine/postgres/connection';
import type { NoMatchReason } from './enrichment.ts';
import type { Finding } from './enrichment.ts';

/** The denylist comes last, so that it decides. Neither the text of a profile nor its size is looked at before it is sent. */
const READ = `SELECT domain, profile, CASE WHEN moved_to IS NOT NULL AND EXISTS (
      SELECT FROM stores t JOIN domain_denylist d ON d.domain = t.domain WHERE t.storefront_id = s.moved_to) THEN 'blocked'
    WHEN profile IS NOT NULL THEN CASE WHEN last_completed_scan_at < $2 THEN 'stale' ELSE 'matched' END
    WHEN last_completed_scan_at IS NOT NULL THEN 'not_ecommerce' ELSE 'not_in_corpus' END AS outcome
  FROM stores s WHERE domain = ANY ($1)
  UNION ALL SELECT domain, NULL, 'blocked' FROM domain_denylist WHERE domain = ANY ($1)`;

interface FindingRow {
  readonly domain: string;
  readonly profile: string | null;
  readonly outcome: 'matched' | 'stale' | NoMatchReason;
}

/** What is known of domains, by one statement; domains without an entry are not in the corpus. A store is stale when it was last observed
 *  before `staleBefore` (milliseconds since the epoch). */
export async function readFindings(
  database: Queryable,
  domains: readonly string[],
  staleBefore: number,
): Promise<Map<string, Finding>> {
  if (domains.length === 0) return new Map();
  const rows = await database.query<FindingRow>(READ, [domains, new Date(staleBefore)], { name: 'read_findings' });
  const findings = new Map<string, Finding>();
  for (const { domain, profile, outcome } of rows)
    findings.set(
      domain,
      outcome === 'matched' || outcome === 'stale'
        ? { match: outcome, profile: profile ?? '' }
        : { match: 'no_match', reason: outcome },
    );
  return findings;
}
