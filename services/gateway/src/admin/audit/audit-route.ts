import { auditEventPage, type AuditEventPage, type AuditQuery } from '@vitrine/gateway-keys/audit-event-page';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import { auditQuery, DEFAULT_LIMIT } from './audit-query.ts';

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
