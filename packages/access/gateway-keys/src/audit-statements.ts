import { auditCursorOf } from './audit-cursor.ts';
import type { AuditEventPage, AuditFilters, AuditQuery, ListedAuditEvent } from './audit-event-page.ts';

// The common parts of statements on audit events in SQLite and Postgres, which have the same columns.

export const REMOVED_AT_ONCE = 2_000;

/** Each kind of denial has its own bound: denials of unknown callers must not displace those of known callers, and these must not displace denied
 *  changes of keys. */
export const KINDS_OF_DENIALS = ["actor = ''", "actor <> '' AND action = 'request'", "actor <> '' AND action <> 'request'"];

const CONDITIONS: { readonly [Name in keyof Required<AuditFilters> | 'org_id' | 'workspace_id']: string } = {
  org_id: 'org_id =',
  workspace_id: 'workspace_id =',
  actor: 'actor =',
  action: 'action =',
  outcome: 'outcome =',
  from: 'at >=',
  to: 'at <=',
};

/** Selects a page of events and one more, newest first, paged by position and not by count, so that neither new events nor retention shift
 *  a page. `bind` adds a value and returns its placeholder. Times are milliseconds since the epoch. */
export function selectAuditPage(query: AuditQuery, bind: (value: string | number, isTime?: boolean) => string): string {
  const { after, limit } = query;
  const conditions = Object.entries(CONDITIONS).flatMap(([name, left]) => {
    const value = query[name as keyof typeof CONDITIONS];
    return value === undefined ? [] : [`${left} ${bind(value, typeof value === 'number')}`];
  });
  if (after !== undefined) conditions.push(`(at, number) < (${bind(after.at, true)}, ${bind(after.number)})`);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return `SELECT * FROM audit_events ${where} ORDER BY at DESC, number DESC LIMIT ${bind(limit + 1)}`;
}

/** The page of the rows that `selectAuditPage` selects. */
export function auditPageOf(rows: readonly Readonly<Record<string, unknown>>[], limit: number): AuditEventPage {
  const last = rows[limit - 1];
  const hasMore = rows.length > limit && last !== undefined;
  return {
    items: rows.slice(0, limit).map(listedOf),
    ...(hasMore ? { next_cursor: auditCursorOf({ at: Number(last['at']), number: Number(last['number']) }) } : {}),
  };
}

/** The other columns are named like the fields of an event. */
function listedOf({ number, at, ...fields }: Readonly<Record<string, unknown>>): ListedAuditEvent {
  return { id: String(number), at: new Date(Number(at)).toISOString(), ...fields } as ListedAuditEvent;
}
