import type { AuditEvent } from '@vitrine/gateway-keys/audit-event';
import { KeyedRateLimiter } from './keyed-rate-limiter.ts';

/** Events are bounded by what they are of, each kind by itself: requests of nobody who is known, requests of a key, changes of keys. */
export const AUDIT_KINDS = ['key_change', 'caller', 'anonymous'] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** Why an event left no record: too many in a second, too many that wait to be written, or the store did not take it. */
export const AUDIT_LOSS_CAUSES = [
  'key_change_rate',
  'key_change_backlog',
  'caller_rate',
  'caller_backlog',
  'anonymous_rate',
  'anonymous_backlog',
  'write_failed',
] as const satisfies readonly (`${AuditKind}_${'rate' | 'backlog'}` | 'write_failed')[];
export type AuditLossCause = (typeof AUDIT_LOSS_CAUSES)[number];

/** Events that are remembered in a second, of each actor and reason; of all who are unknown together. */
const PER_SECOND = 20;
/** Actors and reasons that are counted in a second. */
const MAX_COUNTED = 4_096;
/** Events that wait to be written, at most 2 KB each. */
const MAX_WAITING: Readonly<Record<AuditKind, number>> = { key_change: 1_000, caller: 4_000, anonymous: 1_000 };

/** Audit events of one kind on their way to the store, within bounds. What does not fit is counted. */
export class AuditBacklog {
  readonly #kind: AuditKind;
  readonly #rate: KeyedRateLimiter;
  readonly #onLoss: (cause: AuditLossCause) => void;
  #waiting: AuditEvent[] = [];

  /** `clock`: milliseconds, only forward. */
  constructor(kind: AuditKind, clock: () => number, onLoss: (cause: AuditLossCause) => void) {
    this.#kind = kind;
    this.#rate = new KeyedRateLimiter(PER_SECOND, MAX_COUNTED, clock);
    this.#onLoss = onLoss;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether another event may be remembered in this second. Asked before an event is made: of a flood, most are not. */
  admits(actor: string, reason: string): boolean {
    const isAdmitted = this.#rate.take(this.#kind === 'anonymous' ? '' : `${actor} ${reason}`);
    if (!isAdmitted) this.#onLoss(`${this.#kind}_rate`);
    return isAdmitted;
  }

  add(event: AuditEvent): void {
    if (this.#waiting.length < MAX_WAITING[this.#kind]) this.#waiting.push(event);
    else this.#onLoss(`${this.#kind}_backlog`);
  }

  /** Hands over what waits. */
  take(): AuditEvent[] {
    const events = this.#waiting;
    this.#waiting = [];
    return events;
  }
}
