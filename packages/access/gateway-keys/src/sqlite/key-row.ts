import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { KeyRow } from '../gateway-key.ts';
import type { NewKey } from '../key-store.ts';
import { storedKeyOf } from '../stored-key.ts';

/** Columns of `gateway_keys` that a new key fills, in the order of `keyValues`. */
const NEW_KEY_COLUMNS =
  'id, org_id, workspace_id, name, description, created_by, role, permissions, plan, created_at, managed_by, managed_resource, ' +
  'pepper_version, token_mac, revision';

export const INSERT_KEY: string = `INSERT INTO gateway_keys (${NEW_KEY_COLUMNS}) VALUES (${Array(15).fill('?').join(',')})`;
/** To be continued with conditions on active keys. */
export const SELECT_ACTIVE_KEYS: string = `SELECT ${NEW_KEY_COLUMNS}, last_used_at FROM gateway_keys WHERE revoked_at IS NULL`;

/** The active keys of a tenant, or of all. */
export function listKeyRows(database: DatabaseSync, tenant: Tenant | undefined): KeyRow[] {
  const { condition, values } = ofTenant(tenant);
  return database
    .prepare(`${SELECT_ACTIVE_KEYS}${condition} ORDER BY created_at, id`)
    .all(...values)
    .map(keyRowOf);
}

export function findKeyRow(database: DatabaseSync, id: string, tenant: Tenant | undefined): KeyRow | undefined {
  const { condition, values } = ofTenant(tenant);
  const row = database.prepare(`${SELECT_ACTIVE_KEYS}${condition} AND id = ?`).get(...values, id);
  return row === undefined ? undefined : keyRowOf(row);
}

function ofTenant(tenant: Tenant | undefined): { readonly condition: string; readonly values: SQLInputValue[] } {
  if (tenant === undefined) return { condition: '', values: [] };
  return { condition: ' AND org_id = ? AND workspace_id = ?', values: [tenant.org_id, tenant.workspace_id] };
}

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
  return storedKeyOf(row, String(row['permissions'] ?? '').split(' '), row['token_mac'] as Uint8Array);
}
