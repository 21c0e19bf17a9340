import { createHash } from 'node:crypto';
import type { NewTokenHash, TokenHash } from '@vitrine/credentials/token-hashes';
import type { AuditEvent } from '../audit-log.ts';
import type { NewKey } from '../key-store.ts';

export const T0 = Date.UTC(2026, 0, 1);
export const A = { org_id: 'a', workspace_id: 'w' };
export const B = { org_id: 'b', workspace_id: 'w' };

/** Hashes with the pepper of this version; `secret` distinguishes two peppers of one version. */
export function hashOf(token: string, pepper = 1, secret = 'a'): NewTokenHash {
  return { ...storedHashOf(token, pepper, secret), pepper_fingerprint: secret.repeat(16) };
}

export function storedHashOf(token: string, pepper = 1, secret = 'a'): TokenHash {
  const token_mac = new Uint8Array(createHash('sha256').update(`${pepper} ${secret} ${token}`).digest());
  return { pepper_version: pepper, token_mac };
}

/** A key with the token `token of ID`, and the hash for its store. */
export function newKey(id: string, fields: Partial<NewKey & NewTokenHash> = {}): NewKey & NewTokenHash {
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
