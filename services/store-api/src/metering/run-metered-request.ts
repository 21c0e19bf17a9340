import { invariant } from '@vitrine/faults/invariant';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { createId } from '@vitrine/stores/identifiers';
import { allowanceOf } from '@vitrine/stores/default-plan-limits';
import { requestFingerprint, type NewResponse } from '@vitrine/stores/metering/idempotency';
import type { MeteredOutcome, MeteredRequest, MeteredResult, MeteredWork } from '@vitrine/stores/metering/run-metered';
import type { UnitCounts } from '@vitrine/stores/resources/billing';
import { dateTimeOf } from '@vitrine/stores/resources/enumerations';
import { randomBytes } from 'node:crypto';
import { rejection, type ApiRequest, type ApiResponse, type ApiResult } from '../contract/operation.ts';

const CONFLICT = 'Idempotency-Key was used in the last 24 hours for another operation or input.';

/** The identity of a billable request after defaults. An Idempotency-Key matches only equal requests. */
interface CanonicalRequest {
  readonly operationId: string;
  readonly path: string;
  readonly body?: unknown;
  /** Canonical domains that the response may contain. */
  readonly domains: readonly string[];
}

/** `runMetered`, or `runMeteredRead` for read-only requests. */
type Run<Database> = (pool: PostgresPool, request: MeteredRequest, work: MeteredWork<Database>) => Promise<MeteredOutcome>;

/** Runs a billable request. An error in `work` rolls everything back. If `work` throws an `ApiResponse`, that is the response, and nothing of the
 *  request is stored. Spec: S6.8, S6.9, S6.11 to S6.15. */
export async function runMeteredRequest<Database>(
  run: Run<Database>,
  pool: PostgresPool,
  request: ApiRequest,
  { operationId, path, body, domains }: CanonicalRequest,
  work: MeteredWork<Database>,
): Promise<ApiResult> {
  const { caller, idempotencyKey, receivedAt, id, beforeCommit } = request;
  invariant(caller !== undefined, 'what is billed has a key');
  const idempotency =
    idempotencyKey === undefined
      ? undefined
      : {
          workspace_id: caller.workspace.id,
          idempotency_key: idempotencyKey,
          fingerprint: requestFingerprint(operationId, path, body),
          request_id: id,
          domains,
        };
  let billed: Partial<UnitCounts> = {};
  try {
    const metered = { charge: chargeOf(caller, receivedAt), idempotency, beforeCommit };
    const outcome = await run(pool, metered, async (database, isBilled) => {
      const result = await work(database, isBilled);
      billed = countsOf(result.entries);
      return result;
    });
    if (outcome.kind === 'completed') return { ...responseOf(outcome.response), billed, used: outcome.used };
    if (outcome.kind === 'replayed') return { ...replayed(responseOf(outcome.response)), replayOf: outcome.response.request_id };
    if (outcome.kind === 'answered_anew') return replayed(responseOf(outcome.response));
    return outcome.kind === 'allowance_exhausted' ? exhausted(caller, billed) : rejection('conflict', CONFLICT);
  } catch (error) {
    if (isResponse(error)) return error;
    throw error;
  }
}

function replayed(response: ApiResponse): ApiResponse {
  return { ...response, headers: [...(response.headers ?? []), 'Idempotent-Replayed', 'true'] };
}

function chargeOf(caller: AuthenticatedKey, at: number) {
  const { workspace, key, period, plan } = caller;
  return {
    workspace_id: workspace.id,
    key_id: key.id,
    operation_id: createId('op', at, randomBytes),
    period_starts_at: period.starts_at,
    allowance: allowanceOf(plan.slug, plan.limits),
  };
}

function exhausted({ period, plan }: AuthenticatedKey, needed: Partial<UnitCounts>): ApiResult {
  // A reset does not help, because no period of this plan includes live refreshes.
  if (needed.lookup_live !== undefined && allowanceOf(plan.slug, plan.limits)?.lookup_live === 0)
    return rejection(
      'payment_required',
      `The plan ${plan.slug} has no live refreshes: send the request without refresh, or change the plan.`,
    );
  const reset_at = dateTimeOf(period.ends_at);
  const units = Object.entries(needed).map(([unit, count]) => `${count} ${unit}`);
  const message = `The request needs ${units.join(' and ')}, which exceeds the remaining allowance of this billing period; it is reset at ${reset_at}.`;
  return rejection('payment_required', message, { reset_at });
}

function responseOf({ status, etag, body }: NewResponse): ApiResponse {
  return {
    kind: 'response',
    status: status === 404 ? 404 : 200,
    body,
    ...(etag === null ? {} : { headers: ['ETag', etag, 'Cache-Control', 'private, no-cache'] }),
  };
}

function countsOf(entries: MeteredResult['entries']): Partial<UnitCounts> {
  const counts: Partial<Record<keyof UnitCounts, number>> = {};
  for (const { unit } of entries) counts[unit] = (counts[unit] ?? 0) + 1;
  return counts;
}

function isResponse(error: unknown): error is ApiResponse {
  return typeof error === 'object' && error !== null && 'kind' in error && error.kind === 'response';
}
