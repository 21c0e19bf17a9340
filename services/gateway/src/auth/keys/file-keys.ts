import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { KeyRow } from '@vitrine/gateway-keys/gateway-key';
import type { KeyTokens } from '@vitrine/gateway-keys/key-store';
import type { FileKey } from '../auth-config.ts';

/** The keys of the YAML file as rows, created when the process read them. */
export function fileKeyRows(keys: readonly FileKey[], hashes: TokenHashes, readAt: number): KeyRow[] {
  return keys.map(({ id, org_id, workspace_id, name, description, role, permissions, plan, token }) => ({
    id,
    org_id,
    workspace_id,
    name,
    description,
    created_by: 'system',
    role,
    permissions,
    plan,
    created_at: readAt,
    last_used_at: undefined,
    managed_by: undefined,
    managed_resource: undefined,
    revision: 0,
    ...hashes.hash(token.reveal()),
  }));
}

/** The hashes that the store reserves for them: a token that is removed from the file, or changed there, stays taken like a rotated one. */
export function fileKeyTokens(keys: readonly FileKey[], hashes: TokenHashes): KeyTokens[] {
  return keys.map(({ id, token }) => ({ id, known: hashes.all(token.reveal()) }));
}
