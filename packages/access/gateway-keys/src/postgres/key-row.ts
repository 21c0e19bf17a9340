import type { TokenHash } from '@vitrine/credentials/token-hashes';
import type { Queryable, Row } from '@vitrine/postgres/connection';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { NEW_KEY_COLUMNS, storedKeyOf, type KeyRow, type StoredKey } from '../key-row.ts';
import type { NewKey } from '../key-store.ts';

/** Columns of `gateway_keys` that a new key fills. */
const INSERTED_COLUMNS = [...NEW_KEY_COLUMNS, 'owner_uid', 'changed_by'].join(', ');
/** All rows by one statement, from JSON. */
const INSERT_KEYS = `INSERT INTO gateway_keys (${INSERTED_COLUMNS})
  SELECT ${INSERTED_COLUMNS} FROM jsonb_populate_recordset(NULL::gateway_keys, $1)`;
const READ_COLUMNS = `${INSERTED_COLUMNS}, last_used_at, next_pepper_version, next_token_mac, previous_pepper_version,
  previous_token_mac, previous_until`;
/** Append conditions on active keys. */
export const SELECT_ACTIVE_KEYS: string = `SELECT ${READ_COLUMNS} FROM gateway_keys WHERE revoked_at IS NULL`;
/** Two parameters from `$1` on: the tenant, or null and null for all. */
const OF_TENANT = ' AND ($1::text IS NULL OR (org_id = $1 AND workspace_id = $2))';

/** The active keys of a tenant, or of all. */
export async function listKeyRows(database: Queryable, tenant: Tenant | undefined): Promise<KeyRow[]> {
  const rows = await database.query(`${SELECT_ACTIVE_KEYS}${OF_TENANT} ORDER BY created_at, id`, tenantValues(tenant));
  return rows.map(keyRowOf);
}

export async function findKeyRow(database: Queryable, id: string, tenant: Tenant | undefined): Promise<KeyRow | undefined> {
  const [row] = await database.query(`${SELECT_ACTIVE_KEYS}${OF_TENANT} AND id = $3`, [...tenantValues(tenant), id]);
  return row === undefined ? undefined : keyRowOf(row);
}

/** Whether a key has or had this id. */
export async function hasKeyId(database: Queryable, id: string): Promise<boolean> {
  return (await database.query('SELECT FROM gateway_keys WHERE id = $1', [id])).length > 0;
}

/** The ids among these that a key has or had. */
export async function usedKeyIds(database: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const rows = await database.query<{ id: string }>('SELECT id FROM gateway_keys WHERE id = ANY ($1::text[])', [ids]);
  return new Set(rows.map(({ id }) => id));
}

export async function countActiveKeys(database: Queryable): Promise<number> {
  const [row] = await database.query<{ n: number }>('SELECT count(*) AS n FROM gateway_keys WHERE revoked_at IS NULL');
  return row?.n ?? 0;
}

function tenantValues(tenant: Tenant | undefined): (string | null)[] {
  return [tenant?.org_id ?? null, tenant?.workspace_id ?? null];
}

/** Inserts keys with consecutive revisions from `revision` on. */
export async function insertKeyRows(
  database: Queryable,
  keys: readonly (NewKey & { readonly owner_uid?: string })[],
  revision: number,
  changed_by: string,
): Promise<void> {
  const rows = keys.map((key, at) => jsonOf({ ...key, revision: revision + at, changed_by }));
  await database.execute(INSERT_KEYS, [JSON.stringify(rows)]);
}

export async function updateKeyRow(database: Queryable, id: string, columns: object): Promise<void> {
  const names = Object.keys(columns).join(', ');
  const read = `SELECT ${names} FROM jsonb_populate_record(NULL::gateway_keys, $2)`;
  await database.execute(`UPDATE gateway_keys SET (${names}) = (${read}) WHERE id = $1`, [id, JSON.stringify(jsonOf(columns))]);
}

/** Columns as `jsonb_populate_record` reads them. */
function jsonOf(columns: object): object {
  const values = Object.entries(columns).map(([column, value]: [string, unknown]) => {
    if (value instanceof Uint8Array) return [column, `\\x${Buffer.from(value).toString('hex')}`];
    return [column, column.endsWith('_at') ? new Date(Number(value)) : value];
  });
  return Object.fromEntries(values) as object;
}

export function keyRowOf(row: Row): KeyRow & StoredKey {
  const next = hashOf(row, 'next');
  const previous = hashOf(row, 'previous');
  const until = Number(row['previous_until']);
  return { ...storedKeyOf(row), ...(next && { next }), ...(previous && { previous: { ...previous, until } }) };
}

function hashOf(row: Row, token: 'next' | 'previous'): TokenHash | undefined {
  const mac = row[`${token}_token_mac`];
  if (!(mac instanceof Uint8Array)) return undefined;
  return { pepper_version: Number(row[`${token}_pepper_version`]), token_mac: new Uint8Array(mac) };
}
