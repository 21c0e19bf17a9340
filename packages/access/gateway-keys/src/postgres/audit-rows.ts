import type { Queryable, Row } from '@vitrine/postgres/connection';
import type { RetentionLoop } from '@vitrine/postgres/advance-retention';
import type { Removed } from '@vitrine/telemetry/retention-log';
import { auditCursorOf } from '../audit-cursor.ts';
import type { AuditEventPage, AuditFilters, AuditQuery, ListedAuditEvent } from '../audit-event-page.ts';
import type { AuditEvent } from '../audit-event.ts';

const REMOVED_AT_ONCE = 2_000;

const TEXT_COLUMNS = ['actor', 'action', 'target', 'outcome', 'reason', 'correlation_id', 'org_id', 'workspace_id'] as const;
/** Numbers are given in the order of the rows. */
const INSERT = `INSERT INTO audit_events (at, ${TEXT_COLUMNS.join(', ')}) SELECT * FROM unnest($1::timestamptz[], ${TEXT_COLUMNS.map((_, i) => `$${i + 2}::text[]`).join(', ')})`;

/** Each kind of denial has a bound of its own: denials of unknown callers must not displace those of known callers, nor these the denied
 *  changes of keys. */
const KINDS_OF_DENIALS = ["actor = ''", "actor <> '' AND action = 'request'", "actor <> '' AND action <> 'request'"];

const CONDITIONS: { readonly [Name in keyof Required<AuditFilters>]: string } = {
  actor: 'actor =',
  action: 'action =',
  outcome: 'outcome =',
  from: 'at >=',
  to: 'at <=',
};

export const AUDIT_RETENTION: RetentionLoop = {
  name: 'audit_events',
  newest: 'SELECT max(at) AS newest FROM audit_events',
};

export async function insertAuditEvents(database: Queryable, events: readonly AuditEvent[]): Promise<void> {
  const columns = TEXT_COLUMNS.map((column) => events.map((event) => event[column]));
  await database.execute(INSERT, [events.map(({ at }) => new Date(at)), ...columns]);
}

/** Events newest first, paged by position and not by count, so that neither new events nor retention shift a page. */
export async function listAuditEvents(database: Queryable, query: AuditQuery): Promise<AuditEventPage> {
  const conditions: string[] = [];
  const values: unknown[] = [];
  // No event has U+0000, which Postgres refuses. The only numbers are times.
  const add = (left: string, value: string | number | undefined) => {
    if (value === undefined) return;
    conditions.push(`${left} $${values.push(typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : new Date(value))}`);
  };
  for (const field of ['org_id', 'workspace_id'] as const) add(`${field} =`, query[field]);
  for (const [name, left] of Object.entries(CONDITIONS)) add(left, query[name as keyof AuditFilters]);
  if (query.after !== undefined)
    conditions.push(`(at, number) < ($${values.push(new Date(query.after.at))}, $${values.push(query.after.number)})`);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const rows = await database.query(
    `SELECT * FROM audit_events ${where} ORDER BY at DESC, number DESC LIMIT $${values.push(query.limit + 1)}`,
    values,
  );
  const last = rows[query.limit - 1];
  const hasMore = rows.length > query.limit && last !== undefined;
  return {
    items: rows.slice(0, query.limit).map(listedOf),
    ...(hasMore ? { next_cursor: auditCursorOf({ at: Number(last['at']), number: Number(last['number']) }) } : {}),
  };
}

/** Removes a batch of the events before a moment, and of each kind of denial the oldest beyond `maxDenials`; resolves with what it removed. */
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

function listedOf(row: Row): ListedAuditEvent {
  const text = (column: string) => String(row[column]);
  return {
    id: text('number'),
    at: new Date(Number(row['at'])).toISOString(),
    actor: text('actor'),
    action: text('action'),
    target: text('target'),
    outcome: row['outcome'] === 'allow' ? 'allow' : 'deny',
    reason: text('reason'),
    correlation_id: text('correlation_id'),
    org_id: text('org_id'),
    workspace_id: text('workspace_id'),
  };
}
