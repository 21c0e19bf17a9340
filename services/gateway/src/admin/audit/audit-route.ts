import {
  AUDIT_ACTIONS,
  AUDIT_OUTCOMES,
  auditEventPage,
  type AuditEventPage,
  type AuditFilters,
  type AuditQuery,
} from '@vitrine/gateway-keys/audit-event-page';
import { AUDIT_CURSOR, readAuditCursor } from '@vitrine/gateway-keys/audit-cursor';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import {
  from,
  integer,
  oneOf,
  parameter,
  rangeQuery,
  text,
  to,
  type FilterShapes,
} from '@vitrine/http-api/requests/query-shapes';

export const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** The filters of audit events, for the admin API and the command line. */
export const auditFilters = {
  action: oneOf(AUDIT_ACTIONS).describe('Only this action; request is a denied request.'),
  outcome: oneOf(AUDIT_OUTCOMES).describe('Only allowed actions, or only denied ones.'),
  actor: text().describe('Only actions of this key id, operator or system.'),
  from: from(),
  to: to(),
  cursor: parameter(
    { type: 'string', pattern: AUDIT_CURSOR.source },
    (value, refuse) => readAuditCursor(value) ?? refuse('invalid cursor'),
  ).describe('next_cursor of the previous page.'),
} satisfies FilterShapes<AuditFilters, 'cursor'>;

/** The parameters of `GET /api/audit-events`. */
const auditQuery = rangeQuery({
  ...auditFilters,
  limit: integer(0, MAX_LIMIT).describe('Events per page; 0 or absent: 50.'),
} satisfies FilterShapes<AuditFilters, 'cursor' | 'limit'>);

/** `GET /api/audit-events`. With an identity only events of its tenant are listed; denials of anonymous callers belong to no tenant. */
export function auditRoutes(list: (query: AuditQuery) => Promise<AuditEventPage>): AdminRoute[] {
  return [
    {
      path: '/api/audit-events',
      GET: operation({
        summary: 'Lists audit events, newest first.',
        permission: 'keys:manage',
        query: auditQuery,
        status: 200,
        response: auditEventPage,
        errors: [503],
        handle: ({ query: { cursor, limit, ...filters }, identity }): Promise<AuditEventPage> =>
          list({
            ...filters,
            limit: limit || DEFAULT_LIMIT,
            after: cursor,
            org_id: identity?.org_id,
            workspace_id: identity?.workspace_id,
          }),
      }),
    },
  ];
}
