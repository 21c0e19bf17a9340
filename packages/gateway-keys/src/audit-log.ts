import type { AuditEventPage, AuditQuery } from './audit-event-page.ts';
import type { AuditEvent } from './audit-event.ts';

/** Stores audit events. Faults: `key_store_unavailable`. */
export interface AuditLog {
  appendAudit(events: readonly AuditEvent[]): Promise<void>;
  /** Newest first. */
  listAudit(query: AuditQuery): Promise<AuditEventPage>;
  /** Removes a batch of the events before a moment, and of each kind of denial the oldest beyond a bound. Resolves with the number of
   *  removed events; call again until it is 0. Creates no store where there is none. */
  removeAuditBefore(at: number): Promise<number>;
}
