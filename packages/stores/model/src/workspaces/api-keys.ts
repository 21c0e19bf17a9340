import { Secret } from '@vitrine/config/secret';
import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { Queryable } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import { createId } from '../identifiers.ts';
import type { Scope } from '../resources/enumerations.ts';
import { recordPepperOf } from './stored-peppers.ts';

const TAG = 'svc_live_';
const SECRET_BYTES = 32;
const SHOWN_CHARACTERS = 4;
/** Keys of a workspace that are neither revoked nor expired. */
export const MAX_ACTIVE_KEYS = 100;
/** Spec: S5.10. */
const REVOKED_LISTED_MS = 30 * 86_400_000;

/** A key for display. Times are milliseconds since the epoch. */
export interface ApiKey {
  readonly id: string;
  readonly workspace_id: string;
  readonly label: string;
  /** Tag and first four characters of the secret. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly created_by: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

export interface KeyToCreate extends Pick<ApiKey, 'workspace_id' | 'label' | 'scopes' | 'created_by' | 'expires_at'> {
  readonly at: number;
  readonly random: (bytes: number) => Buffer;
}

type KeyCreation =
  /** The secret, which is not stored. */
  | { readonly kind: 'created'; readonly key: ApiKey; readonly secret: Secret }
  | { readonly kind: 'unknown_workspace' | 'key_limit_reached' };

const COLUMNS = 'id, workspace_id, label, prefix, scopes, created_by, created_at, expires_at, revoked_at';

/** Creates a key and stores only its keyed hash. Keys of a workspace are created one at a time. Faults: `pepper_mismatch`.
 *  Spec: S5.1 to S5.8. */
export async function createApiKey(transaction: Transaction, hashes: TokenHashes, request: KeyToCreate): Promise<KeyCreation> {
  const { workspace_id, label, scopes, created_by, expires_at, at, random } = request;
  const lock = 'SELECT 1 FROM workspaces WHERE id = $1 FOR NO KEY UPDATE';
  if ((await transaction.query(lock, [workspace_id])).length === 0) return { kind: 'unknown_workspace' };
  const count = `SELECT count(*) AS active FROM api_keys
    WHERE workspace_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`;
  const [row] = await transaction.query<{ active: number }>(count, [workspace_id, new Date(at)]);
  if ((row?.active ?? 0) >= MAX_ACTIVE_KEYS) return { kind: 'key_limit_reached' };
  const secret = TAG + random(SECRET_BYTES).toString('base64url');
  const hash = hashes.hash(secret);
  await recordPepperOf(transaction, hash, hashes.identities);
  const text = `INSERT INTO api_keys (id, workspace_id, label, prefix, environment, scopes, pepper_version, token_mac, created_by, created_at, expires_at)
    VALUES ($1, $2, $3, $4, 'live', $5, $6, $7, $8, $9, $10) RETURNING ${COLUMNS}`;
  const [key] = await transaction.query<ApiKey>(text, [
    createId('key', at, random),
    workspace_id,
    label,
    secret.slice(0, TAG.length + SHOWN_CHARACTERS),
    scopes,
    hash.pepper_version,
    hash.token_mac,
    created_by,
    new Date(at),
    expires_at === null ? null : new Date(expires_at),
  ]);
  return key === undefined ? { kind: 'unknown_workspace' } : { kind: 'created', key, secret: new Secret(secret) };
}

/** The keys of a workspace, or of all, oldest first; revoked ones are listed for 30 days. */
export function listApiKeys(database: Queryable, workspaceId: string | undefined, nowMs: number): Promise<ApiKey[]> {
  const text = `SELECT ${COLUMNS} FROM api_keys WHERE ($1::text IS NULL OR workspace_id = $1) AND (revoked_at IS NULL OR revoked_at > $2)
    ORDER BY workspace_id, id`;
  return database.query<ApiKey>(text, [workspaceId ?? null, new Date(nowMs - REVOKED_LISTED_MS)]);
}

/** Revokes a key from its next request on; undefined when there is none with this id. A revoked key is not changed again. */
export async function revokeApiKey(database: Queryable, id: string, at: number): Promise<ApiKey | undefined> {
  const text = `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING ${COLUMNS}`;
  const [key] = await database.query<ApiKey>(text, [id, new Date(at)]);
  return key;
}

const READ_ONLY: readonly Scope[] = ['read:stores', 'read:signals'];
const READ_AND_WATCH: readonly Scope[] = [...READ_ONLY, 'read:watchlists', 'write:watchlists'];

/** Scopes by preset. Spec: S5.6. */
export const KEY_PRESETS = {
  read_only: READ_ONLY,
  read_and_watch: READ_AND_WATCH,
  full: [...READ_AND_WATCH, 'write:scans', 'read:webhooks', 'write:webhooks', 'read:jobs'],
  partner: ['read:stores', 'write:scans'],
} as const satisfies Readonly<Record<string, readonly Scope[]>>;
export type KeyPreset = keyof typeof KEY_PRESETS;
