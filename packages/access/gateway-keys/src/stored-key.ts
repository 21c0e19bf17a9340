import type { KeyRow } from './gateway-key.ts';
import type { NewKey } from './key-store.ts';
import { PERMISSIONS } from './permission.ts';

export type NewKeyColumn = keyof NewKey | 'revision';
/** What a new key fills, in both stores: columns under the names of `NewKey`. A field that is missing here does not compile. */
const NEW_KEY_FIELDS: { readonly [Column in NewKeyColumn]: true } = {
  id: true,
  org_id: true,
  workspace_id: true,
  name: true,
  description: true,
  created_by: true,
  role: true,
  permissions: true,
  plan: true,
  created_at: true,
  managed_by: true,
  managed_resource: true,
  pepper_version: true,
  token_mac: true,
  revision: true,
};
export const NEW_KEY_COLUMNS = Object.keys(NEW_KEY_FIELDS) as readonly NewKeyColumn[];

/** A key as its row has it; a field that is not read does not compile. */
export type StoredKey = { readonly [Column in NewKeyColumn | 'last_used_at']: KeyRow[Column] };

/** The key of a row that has its columns under the names of `KeyRow`, times in milliseconds, as both stores read it. They keep permissions
 *  and bytes each in a form of their own. */
export function storedKeyOf(
  row: Readonly<Record<string, unknown>>,
  granted: readonly string[],
  token_mac: Uint8Array,
): StoredKey {
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
    last_used_at: row['last_used_at'] == null ? undefined : Number(row['last_used_at']),
    managed_by: text('managed_by'),
    managed_resource: text('managed_resource'),
    pepper_version: Number(row['pepper_version']),
    token_mac,
    revision: Number(row['revision']),
  };
}
