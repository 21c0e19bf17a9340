import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { KeyRow } from '../gateway-key.ts';
import type { NewKey } from '../key-store.ts';
import { PERMISSIONS } from '../permission.ts';

/** Columns of `gateway_keys` that make a `KeyRow`, in the order of `keyValues`. */
export const KEY_COLUMNS =
  'id, org_id, workspace_id, name, description, created_by, role, permissions, plan, created_at, managed_by, managed_resource, ' +
  'pepper_version, token_mac, revision';

export function keyValues(key: NewKey, revision: number): SQLInputValue[] {
  return [
    key.id,
    key.org_id,
    key.workspace_id,
    key.name ?? null,
    key.description ?? null,
    key.created_by ?? null,
    key.role,
    key.permissions.join(' '),
    key.plan ?? null,
    key.created_at,
    key.managed_by ?? null,
    key.managed_resource ?? null,
    key.pepper_version,
    key.token_mac,
    revision,
  ];
}

export function keyRowOf(row: Record<string, SQLOutputValue>): KeyRow {
  const text = (column: string) => (typeof row[column] === 'string' ? row[column] : undefined);
  const granted = (text('permissions') ?? '').split(' ');
  return {
    id: text('id') ?? '',
    org_id: text('org_id') ?? '',
    workspace_id: text('workspace_id') ?? '',
    name: text('name'),
    description: text('description'),
    created_by: text('created_by'),
    role: text('role') ?? '',
    // A later version may know more of them.
    permissions: PERMISSIONS.filter((permission) => granted.includes(permission)),
    plan: text('plan'),
    created_at: Number(row['created_at']),
    last_used_at: row['last_used_at'] === null ? undefined : Number(row['last_used_at']),
    managed_by: text('managed_by'),
    managed_resource: text('managed_resource'),
    pepper_version: Number(row['pepper_version']),
    token_mac: row['token_mac'] as Uint8Array,
    revision: Number(row['revision']),
  };
}
