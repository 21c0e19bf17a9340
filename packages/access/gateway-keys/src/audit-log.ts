import type { RetentionRun } from '@vitrine/lifecycle/retention-clock';
import type { Removed } from '@vitrine/telemetry/retention-log';
import type { AUDIT_ACTIONS, AuditEventPage, AuditQuery } from './audit-event-page.ts';

/** A denial or a change of a key. Spec: G17.2. */
export interface AuditEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** A key's id, `operator`, `system`, or '' for an unknown caller. */
  readonly actor: string;
  readonly action: (typeof AUDIT_ACTIONS)[number];
  /** The key's id, or the method and path of the request. */
  readonly target: string;
  readonly outcome: 'allow' | 'deny';
  /** The code of a denial; '' when allowed. */
  readonly reason: string;
  readonly correlation_id: string;
  readonly org_id: string;
  readonly workspace_id: string;
}

/** Stores audit events. Faults: `key_store_unavailable`. */
export interface AuditLog {
  appendAudit(events: readonly AuditEvent[]): Promise<void>;
  /** Newest first. */
  listAudit(query: AuditQuery): Promise<AuditEventPage>;
  /** Advances the time by which events are removed, and stores it; undefined without a store. */
  advanceRetention(): Promise<RetentionRun | undefined>;
  /** Removes a batch of events before a time, and the oldest denials of each kind beyond a bound. Resolves with their summary, which is empty
   *  when nothing is left to remove. Creates no store where there is none. */
  removeAuditBefore(at: number): Promise<Removed[]>;
}
