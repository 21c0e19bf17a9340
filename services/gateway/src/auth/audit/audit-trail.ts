import type { AuditEvent, AuditLog } from '@vitrine/gateway-keys/audit-log';
import { LogThrottle } from '@vitrine/telemetry/log-throttle';
import type { Logger } from '@vitrine/telemetry/logger';
import { scrub } from '@vitrine/privacy/scrub';
import { NO_SCOPE, type ExchangeScope } from '@vitrine/traces/exchange-scope';
import { redactCredentials, type RedactPath } from '@vitrine/privacy/path-redactor';
import { AUDIT_KINDS, AuditBacklog, type AuditKind, type AuditLossCause } from './audit-backlog.ts';
import type { Caller } from '../caller.ts';

const FLUSH_INTERVAL_MS = 1_000;
const DROP_REPORT_INTERVAL_MS = 10_000;
const TARGET_MAX_LENGTH = 256;

const AFTER_LOSS = 'look at err and at gateway-keys.db: docs/failure-modes.md#key_store_unavailable';
const AFTER_UNRECORDED =
  'look at total_by_cause, and at the denials in this log for the callers with many of them: docs/failure-modes.md#requests-with-a-gateway-key';

/** A request that was denied. */
interface DeniedRequest {
  readonly method: string;
  /** As the client sent it; its query, which may contain secrets, is not stored. */
  readonly path: string;
  readonly correlationId: string;
}

interface AuditTrailOptions {
  readonly store: Pick<AuditLog, 'appendAudit'>;
  readonly logger: Logger;
  readonly redactPathFor?: RedactPath | undefined;
  /** Milliseconds since the epoch, for the events. */
  readonly clock: () => number;
  /** Milliseconds on a monotonic clock, for the bounds. */
  readonly steadyClock: () => number;
}

/** Records denials and changes of keys, each as a log line and an event in the audit log. Events of changes are stored with the change itself.
 *  Those of denials are stored in batches, off the request path. Both are bounded (`AuditBacklog`); anonymous callers have bounds of their own,
 *  so that they never displace events of known callers. Dropped events are counted by cause. */
export class AuditTrail implements AsyncDisposable {
  readonly #options: AuditTrailOptions;
  readonly #backlogs: Readonly<Record<AuditKind, AuditBacklog>>;
  readonly #dropped = new Map<AuditLossCause, number>();
  readonly #dropLog: LogThrottle<undefined>;
  #flushing: Promise<void> | undefined;
  #reportedDrops = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
    this.#dropLog = new LogThrottle(DROP_REPORT_INTERVAL_MS, () => this.#writeDrops(), { clock: options.steadyClock });
    const backlog = (kind: AuditKind) => new AuditBacklog(kind, options.steadyClock, (cause) => this.#drop(cause, 1));
    this.#backlogs = { key_change: backlog('key_change'), caller: backlog('caller'), anonymous: backlog('anonymous') };
  }

  /** Dropped events. */
  get lost(): number {
    return this.#dropped.values().reduce((sum, count) => sum + count, 0);
  }

  /** Dropped events by cause; only causes that occurred. */
  get lostByCause(): Partial<Record<AuditLossCause, number>> {
    return Object.fromEntries(this.#dropped);
  }

  /** Records a denied request; `reason` is a code. */
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
    this.#record(kind, event, caller.scope);
  }

  /** Records a rejected change of a key. Its target is client input and may contain anything. */
  rejectedChange(event: AuditEvent): void {
    if (this.#admits('key_change', event.actor, event.reason)) this.#record('key_change', event, NO_SCOPE);
  }

  /** Logs a change of a key; its event is already stored. */
  changed(event: AuditEvent): void {
    this.#options.logger.info({ audit: event, correlation_id: event.correlation_id }, 'gateway key changed');
  }

  /** Writes the waiting events; those of a failed write are counted. One batch is in flight at a time: while the store hangs, later events
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
    this.#dropLog[Symbol.dispose]();
    clearTimeout(this.#timer);
  }

  #admits(kind: AuditKind, actor: string, reason: string): boolean {
    // Drops are reported by the flush too.
    this.#schedule();
    return this.#backlogs[kind].admits(actor, reason);
  }

  #record(kind: AuditKind, event: AuditEvent, scope: ExchangeScope): void {
    const { redactPathFor = redactCredentials, logger } = this.#options;
    const recorded = { ...event, target: redactPathFor(event.target, scope).slice(0, TARGET_MAX_LENGTH) };
    logger.warn({ audit: recorded, correlation_id: recorded.correlation_id }, 'denied');
    this.#backlogs[kind].add(recorded);
  }

  /** Each kind has its own batch, so that input of anonymous callers cannot make a batch with other events fail. */
  async #write(): Promise<void> {
    for (const kind of AUDIT_KINDS) {
      const batch = this.#backlogs[kind].take();
      if (batch.length === 0) continue;
      try {
        await this.#options.store.appendAudit(batch);
      } catch (error) {
        this.#drop('write_failed', batch.length);
        this.#options.logger.error({ err: error, count: batch.length, next_step: AFTER_LOSS }, 'audit write failed');
      }
    }
    this.#reportDrops();
  }

  #drop(cause: AuditLossCause, count: number): void {
    this.#dropped.set(cause, (this.#dropped.get(cause) ?? 0) + count);
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.flush();
    }, FLUSH_INTERVAL_MS).unref();
  }

  #reportDrops(): void {
    if (this.lost !== this.#reportedDrops) this.#dropLog.add('', undefined);
  }

  #writeDrops(): void {
    const counts = { count: this.lost - this.#reportedDrops, total: this.lost, total_by_cause: this.lostByCause };
    this.#options.logger.warn({ ...counts, next_step: AFTER_UNRECORDED }, 'audit events dropped');
    this.#reportedDrops = this.lost;
  }
}
