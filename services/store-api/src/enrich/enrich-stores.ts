import type { Queryable } from '@vitrine/postgres/connection';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { createId } from '@vitrine/stores/identifiers';
import type { LedgerEntry } from '@vitrine/stores/metering/charge-usage';
import { runMetered, runMeteredRead, type MeteredResult } from '@vitrine/stores/metering/run-metered';
import type { EnrichRequest, LastAttempt } from '@vitrine/stores/resources/enrichment';
import { queueScans, type QueuedScan } from '@vitrine/stores/scans/queue-scans';
import type { ConcurrencyLimiter } from '../admission/concurrency-limiter.ts';
import { rejection, type ApiRejection, type ApiRequest, type ApiResult } from '../contract/operation.ts';
import { enrichStores as enrichOperation } from '../contract/served-operations.ts';
import { runMeteredRequest } from '../metering/run-metered-request.ts';
import {
  domainsOf,
  domainsToScan,
  enrichInputs,
  entriesOf,
  renderEnrichment,
  type Finding,
  type NoMatchReason,
} from './enrichment.ts';
import { dateTimeOf } from '@vitrine/stores/resources/enumerations';

/** Spec: S6.17. */
const NO_SECOND_SCAN_MS = 3_600_000;
const NO_SCANS: ReadonlyMap<string, QueuedScan> = new Map();

export interface EnrichContext {
  readonly pool: PostgresPool;
  /** Reads the profiles of batches without `refresh`: 800 KB each. With few at a time each ends sooner and they use less memory. */
  readonly batchPool: PostgresPool;
  /** Concurrent batch reads of a workspace. */
  readonly batchTurns: ConcurrencyLimiter;
  readonly random: (bytes: number) => Uint8Array;
}

type EnrichExchange = ApiRequest<unknown, EnrichRequest>;

/** POST /v1/stores/enrich: returns the stored facts of each input, bills returned stores and queued scans, or refuses the whole request.
 *  Without `refresh` and
 *  Idempotency-Key it takes two statements and no transaction. Spec: S2.30 to S2.32, S3.14 to S3.18, S6.12, S6.16, S6.17. */
export async function enrichStores(
  { pool, batchPool, batchTurns, random }: EnrichContext,
  request: EnrichExchange,
  caller: AuthenticatedKey,
): Promise<ApiResult> {
  const { domains: texts, refresh } = request.body;
  const rejected = rejectionOf(request.body, caller);
  if (rejected !== undefined) return rejected;

  const inputs = enrichInputs(texts);
  const domains = domainsOf(inputs);
  const read = (database: Queryable) => readFindings(database, domains, caller.plan.limits.freshnessDays);
  const resultOf = (
    findings: ReadonlyMap<string, Finding>,
    { scans = NO_SCANS, isBilled = true }: { scans?: ReadonlyMap<string, QueuedScan>; isBilled?: boolean } = {},
  ): MeteredResult => {
    const entries = isBilled ? entriesOf(findings, scans) : [];
    const body = renderEnrichment({ request_id: request.id, inputs, findings, scans, billed: billedOf(entries) });
    return { response: { status: 200, etag: null, body }, entries };
  };
  const { operationId, path } = enrichOperation;
  const canonical = { operationId, path, body: request.body, domains };
  if (!refresh)
    return runMeteredRequest(runMeteredRead, pool, request, canonical, async (_, isBilled) => {
      const findings = await batchTurns.run(caller.workspace.id, () => read(batchPool));
      return resultOf(findings, { isBilled });
    });
  return runMeteredRequest(runMetered, pool, request, canonical, async (transaction: Transaction, isBilled) => {
    const findings = await read(transaction);
    if (!isBilled) return resultOf(findings, { isBilled });
    const scans = await queueScans(transaction, {
      domains: domainsToScan(domains, findings),
      cause: 'requested',
      createId: () => createId('job', request.receivedAt, random),
      unlessFailedWithinMs: NO_SECOND_SCAN_MS,
    });
    return resultOf(findings, { scans });
  });
}

function rejectionOf({ domains, refresh }: EnrichRequest, { key, plan }: AuthenticatedKey): ApiRejection | undefined {
  if (refresh && !key.scopes.includes('write:scans'))
    return rejection('forbidden_scope', 'The API key lacks the scope write:scans, which refresh needs.');
  const { enrichBatchMax } = plan.limits;
  if (domains.length <= enrichBatchMax) return undefined;
  return rejection('invalid_request', `domains has ${domains.length} items; the plan allows ${enrichBatchMax} in a request.`);
}

function billedOf(entries: readonly LedgerEntry[]) {
  const lookup_live = entries.filter(({ unit }) => unit === 'lookup_live').length;
  return { lookup_cached: entries.length - lookup_live, lookup_live };
}

/** Neither the text of a profile nor its size is looked at before it is sent. */
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

/** What is known of domains, by one statement. A store is stale when it was last observed more than `freshnessDays` ago. */
async function readFindings(
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
