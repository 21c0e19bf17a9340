import type { AuditEvent } from '@vitrine/gateway-keys/audit-log';
import { RateLimiter } from '../rate-limiter.ts';

/** Each kind of event has bounds of its own: requests of anonymous callers, requests of a key, changes of keys. */
export const AUDIT_KINDS = ['key_change', 'caller', 'anonymous'] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** Why an event was dropped: too many in a second, too many waiting to be written, or a failed write. */
export type AuditLossCause = `${AuditKind}_${'rate' | 'backlog'}` | 'write_failed';
export const AUDIT_LOSS_CAUSES: readonly AuditLossCause[] = [
  ...AUDIT_KINDS.flatMap((kind): AuditLossCause[] => [`${kind}_rate`, `${kind}_backlog`]),
  'write_failed',
];

/** Events a second of each actor and reason, and of all anonymous callers together. */
const PER_SECOND = 20;
/** Actors and reasons that are counted a second. */
const MAX_COUNTED = 4_096;
/** Events waiting to be written, at most 2 KB each. */
const MAX_WAITING: Readonly<Record<AuditKind, number>> = { key_change: 1_000, caller: 4_000, anonymous: 1_000 };

/** A bounded queue of audit events of one kind before the store. Events beyond its bounds are counted. */
export class AuditBacklog {
  readonly #kind: AuditKind;
  readonly #rate: RateLimiter;
  readonly #onDrop: (cause: AuditLossCause) => void;
  #waiting: AuditEvent[] = [];

  /** `clock`: milliseconds, only forward. */
  constructor(kind: AuditKind, clock: () => number, onDrop: (cause: AuditLossCause) => void) {
    this.#kind = kind;
    this.#rate = new RateLimiter(PER_SECOND, clock, MAX_COUNTED);
    this.#onDrop = onDrop;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether another event is admitted in this second. Called before the event is created, because most events of a flood are not admitted. */
  admits(actor: string, reason: string): boolean {
    const isAdmitted = this.#rate.take(this.#kind === 'anonymous' ? '' : `${actor} ${reason}`);
    if (!isAdmitted) this.#onDrop(`${this.#kind}_rate`);
    return isAdmitted;
  }

  add(event: AuditEvent): void {
    if (this.#waiting.length < MAX_WAITING[this.#kind]) this.#waiting.push(event);
    else this.#onDrop(`${this.#kind}_backlog`);
  }

  /** Returns and removes the waiting events. */
  take(): AuditEvent[] {
    const events = this.#waiting;
    this.#waiting = [];
    return events;
  }
}
