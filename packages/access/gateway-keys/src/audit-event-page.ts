import { z } from 'zod';
import { AUDIT_CURSOR, type AuditPosition } from './audit-cursor.ts';

export const AUDIT_ACTIONS = [
  'request',
  'gateway_key.create',
  'gateway_key.rotate',
  'gateway_key.revoke',
  'gateway_key.update',
  'gateway_key.adopt',
  'gateway_key.release',
] as const;
export const AUDIT_OUTCOMES = ['allow', 'deny'] as const;

/** An audit event as the API and the command line show it. Every field is present; unknown ones are ''. */
const listedAuditEvent = z
  .strictObject({
    id: z.string(),
    at: z.iso.datetime(),
    actor: z.string().describe('Key id of the actor, or operator or system; empty when unknown.'),
    action: z.string().describe(`Such as ${AUDIT_ACTIONS.join(', ')}.`),
    target: z.string().describe('The id of the target key, or the method and path of the request.'),
    outcome: z.enum(AUDIT_OUTCOMES),
    reason: z.string().describe('Code of the denial; empty when allowed.'),
    correlation_id: z.string(),
    org_id: z.string().describe('Of the actor, or of the key that system changed; empty when neither was known.'),
    workspace_id: z.string(),
  })
  .meta({ id: 'AuditEvent', description: 'A change of a gateway key, a refused change, or a denied request.' });
export type ListedAuditEvent = z.infer<typeof listedAuditEvent>;

/** A page of audit events, newest first by (`at`, `id`); `next_cursor` is absent on the last page. */
export const auditEventPage = z
  .strictObject({ items: z.array(listedAuditEvent), next_cursor: z.string().regex(AUDIT_CURSOR).optional() })
  .meta({ id: 'AuditEventPage', description: 'A page of audit events, the newest first.' });
export type AuditEventPage = z.infer<typeof auditEventPage>;

/** Filters of audit events; given ones must match exactly. Times are milliseconds since the epoch, both inclusive. A store needs a condition for
 *  each, and the admin API a parameter. */
export interface AuditFilters {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: ListedAuditEvent['outcome'] | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface AuditQuery extends AuditFilters {
  readonly org_id?: string | undefined;
  readonly workspace_id?: string | undefined;
  /** From 1 on. */
  readonly limit: number;
  /** Only events older than this one. */
  readonly after?: AuditPosition | undefined;
}
