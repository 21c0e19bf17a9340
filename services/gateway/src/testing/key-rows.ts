import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { KeyRow } from '@vitrine/gateway-keys/key-row';

export const testHashes: TokenHashes = new TokenHashes([{ version: 1, secret: new Secret('p'.repeat(32)) }]);

/** A key's row as a store returns it, with a token of that name. */
export function keyRow(id: string, token: string, fields: Partial<KeyRow> = {}): KeyRow {
  return {
    id,
    org_id: 'acme',
    workspace_id: 'search',
    name: undefined,
    description: undefined,
    created_by: 'system',
    role: 'developer',
    permissions: [],
    plan: undefined,
    created_at: 0,
    last_used_at: undefined,
    managed_by: undefined,
    managed_resource: undefined,
    revision: 1,
    ...testHashes.hash(token),
    ...fields,
  };
}
