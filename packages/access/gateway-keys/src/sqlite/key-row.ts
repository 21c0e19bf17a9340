import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import type { PepperUse, StoredPeppers } from '@vitrine/credentials/pepper-problem';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { NEW_KEY_COLUMNS, storedKeyOf, type KeyRow } from '../key-row.ts';
import type { NewKey } from '../key-store.ts';

const INSERT_KEY = `INSERT INTO gateway_keys (${NEW_KEY_COLUMNS.join(', ')}) VALUES (${NEW_KEY_COLUMNS.map(() => '?').join(', ')})`;

/** To be continued with conditions on active keys. All columns: commands read files of earlier versions, which have fewer. */
export const SELECT_ACTIVE_KEYS = 'SELECT * FROM gateway_keys WHERE revoked_at IS NULL';

/** The active keys of a tenant, or of all. */
export function listKeyRows(database: DatabaseSync, tenant: Tenant | undefined): KeyRow[] {
  const { condition, values } = ofTenant(tenant);
  return database
    .prepare(`${SELECT_ACTIVE_KEYS}${condition} ORDER BY created_at, id`)
    .all(...values)
    .map(storedKeyOf);
}

export function findKeyRow(database: DatabaseSync, id: string, tenant: Tenant | undefined): KeyRow | undefined {
  const { condition, values } = ofTenant(tenant);
  const row = database.prepare(`${SELECT_ACTIVE_KEYS}${condition} AND id = ?`).get(...values, id);
  return row === undefined ? undefined : storedKeyOf(row);
}

function ofTenant(tenant: Tenant | undefined): { readonly condition: string; readonly values: SQLInputValue[] } {
  if (tenant === undefined) return { condition: '', values: [] };
  return { condition: ' AND org_id = ? AND workspace_id = ?', values: [tenant.org_id, tenant.workspace_id] };
}

type ColumnValue = string | number | Uint8Array | readonly string[] | undefined;
type Columns = Readonly<Record<string, ColumnValue>>;

export function insertKeyRow(database: DatabaseSync, key: NewKey, revision: number): void {
  const row: Columns = { ...key, revision };
  database.prepare(INSERT_KEY).run(...NEW_KEY_COLUMNS.map((column) => inputOf(row[column])));
}

export function updateKeyRow(database: DatabaseSync, id: string, columns: Columns): void {
  const set = Object.keys(columns).map((column) => `${column} = ?`);
  database.prepare(`UPDATE gateway_keys SET ${set.join(', ')} WHERE id = ?`).run(...Object.values(columns).map(inputOf), id);
}

function inputOf(value: ColumnValue): SQLInputValue {
  if (typeof value !== 'object') return value ?? null;
  return value instanceof Uint8Array ? value : value.join(' ');
}

/** The peppers of gateway keys. Hashes that only reserve a token need no pepper. A file of an earlier version has no fingerprints. */
export function readStoredPeppers(database: DatabaseSync): StoredPeppers {
  const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'pepper_fingerprints'").get() !== undefined;
  const recorded = hasTable ? database.prepare('SELECT pepper_version, pepper_fingerprint FROM pepper_fingerprints').all() : [];
  const used = database
    .prepare('SELECT pepper_version, count(*) AS hashes FROM gateway_keys WHERE revoked_at IS NULL GROUP BY pepper_version')
    .all();
  return {
    recorded: recorded.map((row): PepperIdentity => ({
      pepper_version: Number(row['pepper_version']),
      pepper_fingerprint: String(row['pepper_fingerprint']),
    })),
    used: used.map((row): PepperUse => ({ pepper_version: Number(row['pepper_version']), hashes: Number(row['hashes']) })),
  };
}

/** Records never change. */
export function recordPeppers(database: DatabaseSync, peppers: readonly PepperIdentity[]): void {
  const record = database.prepare('INSERT OR IGNORE INTO pepper_fingerprints VALUES (?, ?)');
  for (const { pepper_version, pepper_fingerprint } of peppers) record.run(pepper_version, pepper_fingerprint);
}
