import { createHash } from 'node:crypto';
import type { AuditEvent } from '../audit-event.ts';
import type { NewKey } from '../key-store.ts';

export const T0 = Date.UTC(2026, 0, 1);
export const A = { org_id: 'a', workspace_id: 'w' };
export const B = { org_id: 'b', workspace_id: 'w' };

export function hashOf(token: string, pepper = 1): { pepper_version: number; token_mac: Uint8Array } {
  return {
    pepper_version: pepper,
    token_mac: new Uint8Array(createHash('sha256').update(`${pepper} ${token}`).digest()),
  };
}

/** A key with the token `token of ID`. */
export function newKey(id: string, fields: Partial<NewKey> = {}): NewKey {
  return {
    id,
    ...A,
    name: undefined,
    description: undefined,
    created_by: 'system',
    role: 'developer',
    permissions: [],
    plan: undefined,
    created_at: T0,
    managed_by: undefined,
    managed_resource: undefined,
    ...hashOf(`token of ${id}`),
    ...fields,
  };
}

export function auditEvent(fields: Partial<AuditEvent> = {}): AuditEvent {
  return {
    at: T0,
    actor: 'system',
    action: 'gateway_key.create',
    target: 'k',
    outcome: 'allow',
    reason: '',
    correlation_id: 'c',
    ...A,
    ...fields,
  };
}
