import type { Queryable } from '@vitrine/postgres/connection';
import type { RetentionLoop } from '@vitrine/postgres/advance-retention';
import type { Removed } from '@vitrine/telemetry/retention-log';
import type { AuditEventPage, AuditQuery } from '../audit-event-page.ts';
import type { AuditEvent } from '../audit-log.ts';
import { auditPageOf, KINDS_OF_DENIALS, REMOVED_AT_ONCE, selectAuditPage } from '../audit-statements.ts';

const TEXT_COLUMNS = ['actor', 'action', 'target', 'outcome', 'reason', 'correlation_id', 'org_id', 'workspace_id'] as const;
/** Numbers are given in the order of the rows. */
const INSERT = `INSERT INTO audit_events (at, ${TEXT_COLUMNS.join(', ')}) SELECT * FROM unnest($1::timestamptz[], ${TEXT_COLUMNS.map((_, i) => `$${i + 2}::text[]`).join(', ')})`;

export const AUDIT_RETENTION: RetentionLoop = {
  name: 'audit_events',
  newest: 'SELECT max(at) AS newest FROM audit_events',
};

export async function insertAuditEvents(database: Queryable, events: readonly AuditEvent[]): Promise<void> {
  const columns = TEXT_COLUMNS.map((column) => events.map((event) => event[column]));
  await database.execute(INSERT, [events.map(({ at }) => new Date(at)), ...columns]);
}

export async function listAuditEvents(database: Queryable, query: AuditQuery): Promise<AuditEventPage> {
  const values: unknown[] = [];
  // Events never contain U+0000, which Postgres refuses.
  const bind = (value: string | number, isTime = false) => {
    const plain = typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
    return `$${values.push(isTime ? new Date(value) : plain)}`;
  };
  return auditPageOf(await database.query(selectAuditPage(query, bind), values), query.limit);
}

/** Removes a batch of events before a time, and the oldest denials of each kind beyond `maxDenials`. Resolves with their summary. */
export async function removeAuditEvents(database: Queryable, before: number, maxDenials: number): Promise<Removed[]> {
  const remove = async (numbers: string, ...values: unknown[]) => {
    const rows = await database.query<Removed>(
      `WITH gone AS (DELETE FROM audit_events WHERE number IN (${numbers}) RETURNING at)
       SELECT 'audit_events' AS what, count(*) AS count, min(at) AS oldest, max(at) AS newest FROM gone`,
      values,
    );
    return rows.filter(({ count }) => count > 0);
  };
  const removed = await remove(`SELECT number FROM audit_events WHERE at < $1 LIMIT ${REMOVED_AT_ONCE}`, new Date(before));
  // There are no more events than numbers between the first and the last; counting them would read the table three times.
  const [bound] = await database.query<{ n: number }>('SELECT coalesce(max(number) - min(number) + 1, 0) AS n FROM audit_events');
  if ((bound?.n ?? 0) <= maxDenials) return removed;
  const beyond = `ORDER BY number DESC LIMIT ${REMOVED_AT_ONCE} OFFSET $1`;
  for (const kind of KINDS_OF_DENIALS)
    removed.push(...(await remove(`SELECT number FROM audit_events WHERE outcome = 'deny' AND ${kind} ${beyond}`, maxDenials)));
  return removed;
}
