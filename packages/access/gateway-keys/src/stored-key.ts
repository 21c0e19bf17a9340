import type { KeyRow } from './gateway-key.ts';
import { PERMISSIONS } from './permission.ts';

/**
 * The key of a row that has its columns under the names of `KeyRow`, times in milliseconds, as both stores read it. Each stores
 * permissions and bytes in its own format.
 */
export function storedKeyOf(row: Readonly<Record<string, unknown>>, granted: readonly string[], token_mac: Uint8Array): KeyRow {
  const text = (column: string) => (typeof row[column] === 'string' ? row[column] : undefined);
  return {
    id: text('id') ?? '',
    org_id: text('org_id') ?? '',
    workspace_id: text('workspace_id') ?? '',
    name: text('name'),
    description: text('description'),
    created_by: text('created_by'),
    role: text('role') ?? '',
    // A later version may store permissions that are unknown here.
    permissions: PERMISSIONS.filter((permission) => granted.includes(permission)),
    plan: text('plan'),
    created_at: Number(row['created_at']),
    last_used_at: row['last_used_at'] === null ? undefined : Number(row['last_used_at']),
    managed_by: text('managed_by'),
    managed_resource: text('managed_resource'),
    pepper_version: Number(row['pepper_version']),
    token_mac,
    revision: Number(row['revision']),
  };
}
