import type { AuditEvent } from '@vitrine/gateway-keys/audit-event';
import type { AuditLog } from '@vitrine/gateway-keys/audit-log';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import { scrub } from '@vitrine/privacy/scrub';
import { NO_SCOPE, type ExchangeScope } from '@vitrine/traces/exchange-scope';
import { redactCredentials, type RedactPath } from '../privacy/path-redactor.ts';
import { AUDIT_KINDS, AuditBacklog, type AuditKind, type AuditLossCause } from './audit-backlog.ts';
import type { Caller } from './caller.ts';

const FLUSH_INTERVAL_MS = 1_000;
const LOST_REPORT_INTERVAL_MS = 10_000;
const TARGET_MAX_LENGTH = 256;

const AFTER_LOSS = 'look at err and at gateway-keys.db: docs/failure-modes.md#key_store_unavailable';
const AFTER_UNRECORDED =
  'look at total_by_cause, and at the denials in this log for who is turned away so often: docs/failure-modes.md#requests-with-a-gateway-key';

/** What a denial is told of. */
export interface DeniedRequest {
  readonly method: string;
  /** As the client sent it; its query, which may hold secrets, is not kept. */
  readonly path: string;
  readonly correlationId: string;
}

export interface AuditTrailOptions {
  readonly store: Pick<AuditLog, 'appendAudit'>;
  readonly logger: Logger;
  readonly redactPathFor?: RedactPath | undefined;
  /** Milliseconds since the epoch, for the events. */
  readonly clock: () => number;
  /** Milliseconds on a clock that never goes back, for the bounds. */
  readonly steadyClock: () => number;
}

/** Remembers denials and changes of keys: each a log line, and a row of the store. Rows of changes are written with the change
 *  itself; those of denials in batches, off the request path. Both are bounded (`AuditBacklog`), and whoever is unknown has bounds of
 *  their own: they cost nobody who is known a record. What does not fit is counted by cause. */
export class AuditTrail implements AsyncDisposable {
  readonly #options: AuditTrailOptions;
  readonly #backlogs: Readonly<Record<AuditKind, AuditBacklog>>;
  readonly #lost = new Map<AuditLossCause, number>();
  readonly #lossLog: LogThrottle<undefined>;
  #flushing: Promise<void> | undefined;
  #reportedLost = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
    this.#lossLog = new LogThrottle(LOST_REPORT_INTERVAL_MS, () => this.#writeLost(), { clock: options.steadyClock });
    const backlog = (kind: AuditKind) => new AuditBacklog(kind, options.steadyClock, (cause) => this.#lose(cause, 1));
    this.#backlogs = { key_change: backlog('key_change'), caller: backlog('caller'), anonymous: backlog('anonymous') };
  }

  /** Events that left no record. */
  get lost(): number {
    return this.#lost.values().reduce((sum, count) => sum + count, 0);
  }

  /** The same by cause; only causes that occurred. */
  get lostByCause(): Partial<Record<AuditLossCause, number>> {
    return Object.fromEntries(this.#lost);
  }

  /** Remembers that a request was turned away; `reason` is a code. */
  denied(request: DeniedRequest, caller: Caller, reason: string): void {
    const { identity } = caller;
    const kind = identity === undefined ? 'anonymous' : 'caller';
    if (!this.#admits(kind, identity?.key_id ?? '', reason)) return;
    const { method, path, correlationId } = request;
    const [bare = ''] = path.split('?', 1);
    const event: AuditEvent = {
      at: this.#options.clock(),
      actor: identity?.key_id ?? '',
      action: 'request',
      target: `${method} ${bare}`,
      outcome: 'deny',
      reason,
      correlation_id: scrub(correlationId).text,
      org_id: identity?.org_id ?? '',
      workspace_id: identity?.workspace_id ?? '',
    };
    this.#remember(kind, event, caller.scope);
  }

  /** Remembers that a change of a key was refused. Its target is what somebody sent: it may hold anything. */
  refused(event: AuditEvent): void {
    if (this.#admits('key_change', event.actor, event.reason)) this.#remember('key_change', event, NO_SCOPE);
  }

  /** Says that a key was changed; its row is there already. */
  changed(event: AuditEvent): void {
    this.#options.logger.info({ audit: event, correlation_id: event.correlation_id }, 'gateway key changed');
  }

  /** Writes what waits. What cannot be written is counted. One batch is under way at a time: while the store stands still, the others
   *  wait within their bounds. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
      if (AUDIT_KINDS.some((kind) => !this.#backlogs[kind].isEmpty)) this.#schedule();
    });
    return this.#flushing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flushing;
    await this.flush();
    this.#lossLog[Symbol.dispose]();
    clearTimeout(this.#timer);
  }

  #admits(kind: AuditKind, actor: string, reason: string): boolean {
    // Also what is lost is told, a second later.
    this.#schedule();
    return this.#backlogs[kind].admits(actor, reason);
  }

  #remember(kind: AuditKind, event: AuditEvent, scope: ExchangeScope): void {
    const { redactPathFor = redactCredentials, logger } = this.#options;
    const kept = { ...event, target: redactPathFor(event.target, scope).slice(0, TARGET_MAX_LENGTH) };
    logger.warn({ audit: kept, correlation_id: kept.correlation_id }, 'denied');
    this.#backlogs[kind].add(kept);
  }

  /** Each kind by itself: what the unknown sent must not make a batch fail that holds anything else. */
  async #write(): Promise<void> {
    for (const kind of AUDIT_KINDS) {
      const batch = this.#backlogs[kind].take();
      if (batch.length === 0) continue;
      try {
        await this.#options.store.appendAudit(batch);
      } catch (error) {
        this.#lose('write_failed', batch.length);
        this.#options.logger.error({ err: error, count: batch.length, next_step: AFTER_LOSS }, 'audit events were not written');
      }
    }
    this.#reportLost();
  }

  #lose(cause: AuditLossCause, count: number): void {
    this.#lost.set(cause, (this.#lost.get(cause) ?? 0) + count);
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.flush();
    }, FLUSH_INTERVAL_MS);
    this.#timer.unref();
  }

  #reportLost(): void {
    if (this.lost !== this.#reportedLost) this.#lossLog.add('', undefined);
  }

  #writeLost(): void {
    const counts = { count: this.lost - this.#reportedLost, total: this.lost, total_by_cause: this.lostByCause };
    this.#options.logger.warn({ ...counts, next_step: AFTER_UNRECORDED }, 'denials left no record');
    this.#reportedLost = this.lost;
  }
}
