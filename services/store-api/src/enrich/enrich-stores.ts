import type { Queryable } from '@vitrine/postgres/connection';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { createId } from '@vitrine/stores/identifiers';
import { allowanceOf } from '@vitrine/stores/metering/allowance';
import type { LedgerEntry } from '@vitrine/stores/metering/charge-usage';
import { requestFingerprint } from '@vitrine/stores/metering/idempotency';
import { runMetered, runMeteredRead, type MeteredOutcome, type MeteredRequest } from '@vitrine/stores/metering/run-metered';
import type { EnrichRequest } from '@vitrine/stores/resources/enrichment';
import { dateTimeOf } from '@vitrine/stores/resources/scalars';
import { queueScans, type QueuedScan } from '@vitrine/stores/scans/queue-scans';
import { rejection, type ApiRejection, type ApiRequest, type ApiResult } from '../contract/api-exchange.ts';
import { enrichStores as enrichOperation } from '../contract/served-operations.ts';
import { domainsOf, domainsToScan, enrichInputs, entriesOf, renderEnrichment, type Finding } from './enrichment.ts';
import { readFindings } from './read-findings.ts';

const DAY_MS = 86_400_000;
const NO_SCANS: ReadonlyMap<string, QueuedScan> = new Map();

export interface EnrichContext {
  readonly pool: PostgresPool;
  readonly random: (bytes: number) => Uint8Array;
}

type EnrichExchange = ApiRequest<unknown, EnrichRequest>;

/** POST /v1/stores/enrich: what is known of each input, billed for what is returned and queued, or refused whole. Without `refresh` and
 *  Idempotency-Key it takes two statements and no transaction. Spec: enrich; decisions, sections 1 and 3. */
export async function enrichStores(
  { pool, random }: EnrichContext,
  request: EnrichExchange,
  caller: AuthenticatedKey,
): Promise<ApiResult> {
  const { domains: texts, refresh } = request.body;
  const rejected = rejectionOf(request.body, caller);
  if (rejected !== undefined) return rejected;

  const inputs = enrichInputs(texts);
  const domains = domainsOf(inputs);
  const staleBefore = request.receivedAt - caller.plan.limits.freshnessDays * DAY_MS;
  let needed: readonly LedgerEntry[] = [];
  const respond = (findings: ReadonlyMap<string, Finding>, scans: ReadonlyMap<string, QueuedScan>) => {
    needed = entriesOf(findings, scans);
    const body = renderEnrichment({ request_id: request.id, inputs, findings, scans, billed: billedOf(needed) });
    return { response: { status: 200, etag: null, body }, entries: needed };
  };
  const read = (database: Queryable) => readFindings(database, domains, staleBefore);
  const metered = meteredRequest(request, caller, random);
  const outcome = refresh
    ? await runMetered(pool, metered, async (transaction) => {
        const findings = await read(transaction);
        const createJobId = () => createId('job', request.receivedAt, random);
        const scan = { cause: 'requested', at: request.receivedAt, createId: createJobId } as const;
        return respond(findings, await queueScans(transaction, { ...scan, domains: domainsToScan(domains, findings) }));
      })
    : await runMeteredRead(pool, metered, async (database) => respond(await read(database), NO_SCANS));
  return resultOf(outcome, needed, caller);
}

function rejectionOf({ domains, refresh }: EnrichRequest, { key, plan }: AuthenticatedKey): ApiRejection | undefined {
  if (refresh && !key.scopes.includes('write:scans'))
    return rejection('forbidden_scope', 'The API key lacks the scope write:scans, which refresh needs.');
  const { enrichBatchMax } = plan.limits;
  if (domains.length <= enrichBatchMax) return undefined;
  return rejection('invalid_request', `domains has ${domains.length} items; the plan allows ${enrichBatchMax} in a request.`);
}

function meteredRequest(
  request: EnrichExchange,
  { key, workspace, plan, period }: AuthenticatedKey,
  random: EnrichContext['random'],
): MeteredRequest {
  const { idempotencyKey, receivedAt, beforeCommit } = request;
  const { operationId, path } = enrichOperation;
  return {
    charge: {
      workspace_id: workspace.id,
      key_id: key.id,
      operation_id: createId('op', receivedAt, random),
      period_starts_at: period.starts_at,
      allowance: allowanceOf(plan.slug, plan.limits),
    },
    idempotency:
      idempotencyKey === undefined
        ? undefined
        : {
            workspace_id: workspace.id,
            idempotency_key: idempotencyKey,
            fingerprint: requestFingerprint(operationId, path, request.body),
            request_id: request.id,
            at: receivedAt,
          },
    beforeCommit,
  };
}

function resultOf(outcome: MeteredOutcome, needed: readonly LedgerEntry[], caller: AuthenticatedKey): ApiResult {
  const billed = billedOf(needed);
  if (outcome.kind === 'completed')
    return { kind: 'response', status: 200, body: outcome.response.body, billed, used: outcome.used };
  if (outcome.kind === 'replayed') {
    const { body, request_id } = outcome.response;
    return { kind: 'response', status: 200, body, headers: ['Idempotent-Replayed', 'true'], replayOf: request_id };
  }
  if (outcome.kind === 'conflict')
    return rejection('conflict', 'The Idempotency-Key was used for another operation or input within 24 hours.');
  const { lookup_cached, lookup_live } = billed;
  const reset_at = dateTimeOf(caller.period.ends_at);
  const message = `The batch needs ${lookup_cached} lookup_cached and ${lookup_live} lookup_live, which the allowance of the period does not have; it is reset at ${reset_at}.`;
  return rejection('payment_required', message, { reset_at });
}

function billedOf(entries: readonly LedgerEntry[]) {
  const lookup_live = entries.filter(({ unit }) => unit === 'lookup_live').length;
  return { lookup_cached: entries.length - lookup_live, lookup_live };
}
