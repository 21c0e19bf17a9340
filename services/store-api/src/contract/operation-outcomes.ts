import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import { ERROR_RULES, SERVER_STATUSES } from './error-codes.ts';
import type { Operation } from './operation.ts';

/** A status that an operation may respond with. */
interface OperationOutcome {
  readonly status: number;
  /** '' for a success. */
  readonly code: ErrorCode | '';
}

/** Of every operation with a key: 403 although any scope does for some, because the contract is one for all. */
const KEYED: readonly ErrorCode[] = ['unauthorized', 'forbidden_scope', 'rate_limited', 'overloaded', 'concurrency_limited'];

/** Everything that an operation may respond with; the document and the counters follow from it. */
export function outcomesOf(operation: Operation): OperationOutcome[] {
  const { errors, scope, status, isConditional } = operation;
  const codes: ErrorCode[] = ['invalid_request', ...errors, ...(scope === 'none' ? [] : KEYED), 'internal'];
  return [
    { status, code: '' } as const,
    ...(isConditional === true ? [{ status: 304, code: '' } as const] : []),
    ...[...new Set(codes)].map((code) => ({ status: ERROR_RULES[code].status, code })),
    ...Object.keys(SERVER_STATUSES).map((serverStatus) => ({ status: Number(serverStatus), code: 'invalid_request' as const })),
  ].toSorted((a, b) => a.status - b.status);
}
