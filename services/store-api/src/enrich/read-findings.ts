import type { Queryable } from '@vitrine/postgres/connection';
import type { LastAttempt } from '@vitrine/stores/resources/enrichment';
import { dateTimeOf } from '@vitrine/stores/resources/scalars';
import type { Finding, NoMatchReason } from './enrichment.ts';

/** The text of a profile and its size are not inspected before sending. */
const READ = `SELECT w.domain, s.profile, last.state, last.reason, last.finished_at, CASE
      WHEN EXISTS (SELECT FROM domain_denylist d WHERE d.domain = w.domain) OR (s.moved_to IS NOT NULL AND EXISTS (
        SELECT FROM stores t JOIN domain_denylist d ON d.domain = t.domain WHERE t.storefront_id = s.moved_to)) THEN 'blocked'
      WHEN s.profile IS NOT NULL THEN CASE WHEN s.last_completed_scan_at < now() - make_interval(days => $2) THEN 'stale' ELSE 'matched' END
      WHEN s.last_completed_scan_at IS NOT NULL THEN 'not_ecommerce' ELSE 'not_in_corpus' END AS outcome
  FROM unnest($1::text[]) AS w (domain) LEFT JOIN stores s ON s.domain = w.domain LEFT JOIN LATERAL (
    SELECT status AS state, split_part(error, ':', 1) AS reason, finished_at FROM scan_jobs j
    WHERE j.domain = w.domain AND finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT 1) AS last ON TRUE`;

interface FindingRow {
  readonly domain: string;
  readonly profile: string | null;
  readonly state: LastAttempt['state'] | null;
  readonly reason: LastAttempt['reason'];
  /** Milliseconds since the epoch. */
  readonly finished_at: number;
  readonly outcome: 'matched' | 'stale' | NoMatchReason;
}

/** The stored facts of domains, read with one statement. A store is stale when it was last observed more than `freshnessDays` ago. */
export async function readFindings(
  database: Queryable,
  domains: readonly string[],
  freshnessDays: number,
): Promise<Map<string, Finding>> {
  if (domains.length === 0) return new Map();
  const rows = await database.query<FindingRow>(READ, [domains, freshnessDays], { name: 'read_findings' });
  return new Map(rows.map((row) => [row.domain, findingOf(row)]));
}

function findingOf(row: FindingRow): Finding {
  const { profile, outcome } = row;
  if (outcome === 'blocked') return { match: 'no_match', reason: outcome, lastAttempt: null };
  const lastAttempt = lastAttemptOf(row);
  return outcome === 'matched' || outcome === 'stale'
    ? { match: outcome, profile: profile ?? '', lastAttempt }
    : { match: 'no_match', reason: outcome, lastAttempt };
}

function lastAttemptOf({ state, reason, finished_at }: FindingRow): LastAttempt | null {
  return state && { state, reason, finished_at: dateTimeOf(finished_at) };
}
