import type { RetentionRun } from '@vitrine/lifecycle/retention-clock';
import type { Removed } from '@vitrine/telemetry/retention-log';
import type { AuditEventPage, AuditQuery } from './audit-event-page.ts';
import type { AuditEvent } from './audit-event.ts';

/** Stores audit events. Faults: `key_store_unavailable`. */
export interface AuditLog {
  appendAudit(events: readonly AuditEvent[]): Promise<void>;
  /** Newest first. */
  listAudit(query: AuditQuery): Promise<AuditEventPage>;
  /** Advances the time by which events are removed, and keeps it; undefined where there is no store. */
  advanceRetention(): Promise<RetentionRun | undefined>;
  /** Removes a batch of the events before a moment, and of each kind of denial the oldest beyond a bound. Resolves with what it
   *  removed; call again until that is nothing. Creates no store where there is none. */
  removeAuditBefore(at: number): Promise<Removed[]>;
}
