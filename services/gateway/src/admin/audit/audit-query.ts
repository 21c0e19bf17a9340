import { AUDIT_CURSOR, readAuditCursor } from '@vitrine/gateway-keys/audit-cursor';
import { AUDIT_ACTIONS, AUDIT_OUTCOMES, type AuditFilters } from '@vitrine/gateway-keys/audit-event-page';
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
  action: oneOf(AUDIT_ACTIONS).describe('Only this action; request is one that was turned away.'),
  outcome: oneOf(AUDIT_OUTCOMES).describe('Only what was allowed, or only what was denied.'),
  actor: text().describe('Only what this key id, operator or system did.'),
  from: from(),
  to: to(),
  cursor: parameter(
    { type: 'string', pattern: AUDIT_CURSOR.source },
    (value, refuse) => readAuditCursor(value) ?? refuse('invalid cursor'),
  ).describe('The next_cursor of the page before.'),
} satisfies FilterShapes<AuditFilters, 'cursor'>;

/** The parameters of `GET /api/audit-events`. */
export const auditQuery = rangeQuery({
  ...auditFilters,
  limit: integer(0, MAX_LIMIT).describe('How many events a page holds; 0 or absent: 50.'),
} satisfies FilterShapes<AuditFilters, 'cursor' | 'limit'>);
