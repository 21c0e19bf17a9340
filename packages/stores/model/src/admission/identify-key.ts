import type { TokenHash } from '@vitrine/credentials/token-hashes';
import type { Queryable } from '@vitrine/postgres/connection';
import { DEFAULT_PLAN_LIMITS } from '../default-plan-limits.ts';

/** Whose requests are bounded together before they get a connection. */
export interface KeyIdentity {
  readonly key_id: string;
  readonly workspace_id: string;
  /** Of the plan when it was last read. */
  readonly concurrency: number;
}

interface RefusedKey {
  readonly outcome: 'unknown_key' | 'revoked_key' | 'expired_key';
}
export type KeyLookup = ({ readonly outcome: 'valid' } & KeyIdentity) | RefusedKey;
/** `pepper_version`: of the stored hash. */
type StoredKeyLookup = ({ readonly outcome: 'valid'; readonly pepper_version: number } & KeyIdentity) | RefusedKey;

const IDENTIFY = `SELECT CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked_key' WHEN k.expires_at <= clock_timestamp() THEN 'expired_key'
    ELSE 'valid' END AS outcome, k.id AS key_id, k.workspace_id, k.pepper_version, (coalesce(p.limits, $2::jsonb -> w.plan) ->> 'concurrency')::integer AS concurrency
  FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id LEFT JOIN plans p ON p.name = w.plan WHERE k.token_mac = ANY ($1)`;
interface IdentityRow extends KeyIdentity {
  readonly outcome: 'valid' | 'revoked_key' | 'expired_key';
  readonly pepper_version: number;
}
const DEFAULT_LIMITS = JSON.stringify(DEFAULT_PLAN_LIMITS);

/** Whose token it is, before the first admission of its key in a process. It takes no lock: whoever holds the rows of a workspace delays nobody
 *  else. `token`: the hashes under which the token may be stored. */
export async function identifyKey(database: Queryable, token: readonly TokenHash[]): Promise<StoredKeyLookup> {
  const values = [token.map(({ token_mac }) => token_mac), DEFAULT_LIMITS];
  const [row] = await database.query<IdentityRow>(IDENTIFY, values, { name: 'identify_key' });
  if (row === undefined) return { outcome: 'unknown_key' };
  const { outcome, ...identity } = row;
  return outcome === 'valid' ? { outcome, ...identity } : { outcome };
}
