import type { AuditEvent } from '@vitrine/plans/audit-event';
import type { AuditStore } from '@vitrine/plans/key-store';
import type { Logger } from '@vitrine/telemetry/logger';
import { scrub } from '@vitrine/telemetry/scrub';
import { NO_SCOPE } from '@vitrine/traces/exchange-scope';
import { hideCredentials, type HidePath } from '../privacy/path-hider.ts';
import type { Caller } from './caller.ts';
import { PerSecond } from './per-second.ts';

/** Denials that are remembered in a second; whoever is turned away all the time must fill neither log nor disk. */
const DENIALS_A_SECOND = 20;
/** Denials that wait to be written. */
const MAX_WAITING = 1_000;
const FLUSH_INTERVAL_MS = 1_000;
const LOST_REPORT_INTERVAL_MS = 10_000;
const TARGET_MAX_LENGTH = 256;

/** What a denial is told of. */
export interface DeniedRequest {
  readonly method: string;
  /** As the client sent it; its query, which may hold secrets, is not kept. */
  readonly path: string;
  readonly correlationId: string;
}

export interface AuditTrailOptions {
  readonly store: AuditStore;
  readonly logger: Logger;
  readonly hidePath?: HidePath | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Remembers denials and changes of keys: each a log line, and a row of the store. Rows of changes are written with the change
 *  itself; those of denials in batches, off the request path. What does not fit is counted. */
export class AuditTrail implements AsyncDisposable {
  readonly #options: AuditTrailOptions;
  readonly #rate: PerSecond;
  #waiting: AuditEvent[] = [];
  #lost = 0;
  #reportedLost = 0;
  #quietUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
    this.#rate = new PerSecond(DENIALS_A_SECOND, options.clock);
  }

  /** Denials that left no record. */
  get lost(): number {
    return this.#lost + this.#rate.refused;
  }

  /** Remembers that a request was turned away; `reason` is a code. */
  denied(request: DeniedRequest, caller: Caller, reason: string): void {
    const { method, path, correlationId } = request;
    const [bare = ''] = path.split('?', 1);
    const event = {
      at: this.#options.clock(),
      actor: caller.identity?.key_id ?? '',
      action: 'request',
      target: `${method} ${bare}`,
      outcome: 'deny' as const,
      reason,
      correlation_id: scrub(correlationId).text,
      org_id: caller.identity?.org_id ?? '',
      workspace_id: caller.identity?.workspace_id ?? '',
    };
    this.refused(event, caller.scope);
  }

  /** Remembers that a change of a key was refused. Its target is what somebody sent: it may hold anything. */
  refused(event: AuditEvent, scope: string = NO_SCOPE): void {
    this.#schedule();
    if (!this.#rate.take()) return;
    const { hidePath = hideCredentials, logger } = this.#options;
    const kept = { ...event, target: hidePath(event.target, scope).slice(0, TARGET_MAX_LENGTH) };
    logger.warn({ audit: kept, correlation_id: kept.correlation_id }, 'denied');
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(kept);
    else this.#lost += 1;
  }

  /** Says that a key was changed; its row is there already. */
  changed(event: AuditEvent): void {
    this.#options.logger.info({ audit: event, correlation_id: event.correlation_id }, 'gateway key changed');
  }

  /** Writes what waits. What cannot be written is counted. */
  async flush(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      if (batch.length > 0) await this.#options.store.appendAudit(batch);
    } catch (error) {
      this.#lost += batch.length;
      this.#options.logger.error({ err: error, count: batch.length }, 'audit events were not written');
    }
    this.#reportLost();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#quietUntil = 0;
    await this.flush();
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
    const now = this.#options.clock();
    if (this.lost === this.#reportedLost || now < this.#quietUntil) return;
    this.#quietUntil = now + LOST_REPORT_INTERVAL_MS;
    this.#options.logger.warn({ count: this.lost - this.#reportedLost, total: this.lost }, 'denials left no record');
    this.#reportedLost = this.lost;
  }
}
