import { codeOf, isFault } from '@vitrine/faults/fault';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ServedRequest } from '../http/request-events.ts';

const SEE = 'docs/failure-modes.md';
const NEXT_STEPS: Readonly<Record<string, string>> = {
  deadline_exceeded: `look at load and locks of the database: ${SEE}#deadline_exceeded`,
  billing_unknown: `look for the operation in the ledger once the database is available: ${SEE}#billing_unknown`,
};
/**
 * Together with one line for each of the four parse errors and the three bounds that clients without a key can reach, there are at most
 * 20 lines in any second.
 */
const ANONYMOUS_LINES = 13;
const ANONYMOUS_INTERVAL_MS = 1_000;
const OVERLOAD_INTERVAL_MS = 10_000;

/** Writes the log lines of requests. Lines of requests without a known key are bounded. */
export class RequestLog implements Disposable {
  readonly #logger: Logger;
  readonly #logsAccess: boolean;
  readonly #clock: () => number;
  readonly #overloads: LogThrottle<ServedRequest>;
  /** Ring buffer of the times of the last lines. */
  readonly #writtenAt = Array.from({ length: ANONYMOUS_LINES }, () => Number.NEGATIVE_INFINITY);
  #oldest = 0;
  #suppressed = 0;

  /** `clock`: milliseconds, monotonic. */
  constructor(logger: Logger, logsAccess: boolean, clock: () => number) {
    this.#logger = logger;
    this.#logsAccess = logsAccess;
    this.#clock = clock;
    this.#overloads = new LogThrottle(OVERLOAD_INTERVAL_MS, (request, count) => this.#writeOverload(request, count), { clock });
  }

  /** Lines of unauthenticated requests that were not written. */
  get suppressed(): number {
    return this.#suppressed;
  }

  add(request: ServedRequest): void {
    const { status, error, replayOf, code } = request;
    if (code === 'overloaded') this.#overloads.add(boundOf(error), request);
    else if (status >= 500 && error !== undefined) this.#write(request, (fields) => this.#writeFailure(fields, error));
    if (replayOf !== undefined) this.#logger.info({ ...fieldsOf(request), replay_of: replayOf }, 'response replayed');
    if (this.#logsAccess) this.#write(request, (fields) => this.#writeAccess(fields, request));
  }

  [Symbol.dispose](): void {
    this.#overloads[Symbol.dispose]();
  }

  #write(request: ServedRequest, write: (fields: object) => void): void {
    if (request.keyId !== undefined || this.#takeLine()) write(fieldsOf(request));
    else this.#suppressed += 1;
  }

  #takeLine(): boolean {
    const now = this.#clock();
    if (now - (this.#writtenAt[this.#oldest] ?? 0) < ANONYMOUS_INTERVAL_MS) return false;
    this.#writtenAt[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % ANONYMOUS_LINES;
    return true;
  }

  #writeFailure(fields: object, error: unknown): void {
    const next_step = NEXT_STEPS[codeOf(error)];
    const about = next_step === undefined ? databaseErrorFields(error) : { err: error, next_step };
    this.#logger.error({ ...fields, ...about }, 'request failed');
  }

  #writeOverload(request: ServedRequest, count: number): void {
    const next_step = `look at svc_store_api_overloaded_total and svc_postgres_waiting: ${SEE}#overloaded`;
    this.#logger.warn({ ...fieldsOf(request), bound: boundOf(request.error), count, next_step }, 'requests refused: overloaded');
  }

  #writeAccess(fields: object, { method, status, code, reason, billed, startedAt, endedAt }: ServedRequest): void {
    const duration_ms = Math.round((endedAt - startedAt) * 10) / 10;
    this.#logger.info({ ...fields, method, status, code, reason, billed, duration_ms }, 'request served');
  }
}

/** The bounds that a request may reach, for metrics. */
export const OVERLOAD_BOUNDS = ['unseen_tokens', 'key', 'workspace', 'batches', 'pool', 'database'] as const;

/** The bound of an error. */
export function boundOf(error: unknown): string {
  const bound = isFault(error) ? error.log['bound'] : undefined;
  if (typeof bound === 'string') return bound;
  return codeOf(error) === 'postgres_pool_full' ? 'pool' : 'database';
}

function fieldsOf({ requestId, operationId, workspaceId, keyId }: ServedRequest) {
  return { request_id: requestId, operation: operationId, workspace_id: workspaceId, key_id: keyId };
}
