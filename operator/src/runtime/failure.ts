import { codeOf, isFault } from '@vitrine/faults/fault';
import { classifyPostgresError } from '@vitrine/postgres/postgres-error';
import { ApiError, hasStatus } from './kubernetes-client.ts';
import { readConditions, type Condition, type ConditionReason, type WantedCondition } from './conditions.ts';

/** The conditions of an object after a failed pass, which is retried. */
interface AfterFailure {
  readonly ready: Pick<WantedCondition, 'status' | 'reason' | 'message'>;
  readonly reconciling: ConditionReason;
}

interface FailedObject {
  readonly metadata?: { readonly generation?: number; readonly deletionTimestamp?: unknown };
  readonly status?: { readonly conditions?: unknown };
}

/** A ready object stays ready, because only its repair is delayed. Undefined if nothing has to be written: another pass or process follows at
 *  once, or the database is unavailable, which services tolerate and which would change every status twice. */
export function afterFailure(error: unknown, { metadata = {}, status }: FailedObject): AfterFailure | undefined {
  const failure = failureOf(error);
  if (failure === undefined) return undefined;
  const last = readConditions(status).find(({ type }) => type === 'Ready');
  if (metadata.deletionTimestamp !== undefined || !isReady(last, metadata.generation))
    return { ready: { status: 'False', ...failure }, reconciling: failure };
  if (failure.reason === DATABASE_UNAVAILABLE.reason) return undefined;
  return { ready: { status: 'True', reason: last.reason, message: last.message }, reconciling: failure };
}

const DATABASE_UNAVAILABLE: ConditionReason = {
  reason: 'DatabaseUnavailable',
  message: 'the database cannot be reached or refused a statement; it is tried again',
};
const FAILED: ConditionReason = {
  reason: 'ReconcileFailed',
  message: 'the pass failed and is tried again; see the log of the operator',
};

function isReady(last: Condition | undefined, generation: number | undefined): last is Condition {
  return last?.status === 'True' && last.observedGeneration === generation;
}

function failureOf(error: unknown): ConditionReason | undefined {
  if (codeOf(error) === 'leadership_lost' || hasStatus(error, 409, 'Conflict')) return undefined;
  if (error instanceof ApiError) return { reason: apiReason(error), message: `${error.message}; it is tried again` };
  const isDatabase = codeOf(error) === 'key_store_unavailable' || (!isFault(error) && classifyPostgresError(error) !== 'unknown');
  return isDatabase ? DATABASE_UNAVAILABLE : FAILED;
}

/** Quotas, webhooks and policies respond with arbitrary statuses, so their text decides. */
function apiReason({ status, message }: ApiError): string {
  if (message.includes('exceeded quota')) return 'QuotaExceeded';
  if (/admission webhook|ValidatingAdmissionPolicy/.test(message)) return 'AdmissionDenied';
  if (status === 401 || status === 403) return 'Forbidden';
  if (status === 429) return 'ApiServerBusy';
  if (status === 0 || status >= 500) return 'ApiServerUnavailable';
  return [400, 413, 422].includes(status) ? 'Invalid' : 'ApiServerRejected';
}
