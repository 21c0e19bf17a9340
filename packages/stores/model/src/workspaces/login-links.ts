import { Secret } from '@vitrine/config/secret';
import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { Queryable } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import { recordPepperOf } from './stored-peppers.ts';

const TAG = 'svc_login_';
const SECRET_BYTES = 32;

/** The user signed in by a login link. */
interface Login {
  readonly workspace_id: string;
  readonly email: string;
  readonly role: 'admin' | 'member';
}

interface LoginLinkToCreate {
  readonly workspace_id: string;
  /** In lower case. */
  readonly email: string;
  readonly at: number;
  readonly ttlMs: number;
  readonly random: (bytes: number) => Buffer;
}

/** Creates a token that signs a member in once, within its time; undefined when the workspace has no such member. Only its keyed hash is stored,
 *  so that reading the table signs nobody in. Faults: `pepper_mismatch`. */
export async function createLoginToken(
  database: Transaction,
  hashes: TokenHashes,
  { workspace_id, email, at, ttlMs, random }: LoginLinkToCreate,
): Promise<Secret | undefined> {
  const token = TAG + random(SECRET_BYTES).toString('base64url');
  const hash = hashes.hash(token);
  await recordPepperOf(database, hash, hashes.identities);
  const text = `INSERT INTO login_links (token_mac, pepper_version, workspace_id, email, created_at, expires_at)
    SELECT $1, $2, m.workspace_id, m.email, $5, $6 FROM members m WHERE m.workspace_id = $3 AND m.email = $4`;
  const values = [hash.token_mac, hash.pepper_version, workspace_id, email, new Date(at), new Date(at + ttlMs)];
  return (await database.execute(text, values)) === 0 ? undefined : new Secret(token);
}

/** Consumes a token, and resolves with the user to sign in; undefined for an unknown, expired or used token. Only one of two concurrent uses
 *  succeeds. */
export async function redeemLoginToken(
  database: Queryable,
  hashes: TokenHashes,
  token: Secret,
  at: number,
): Promise<Login | undefined> {
  const macs = hashes.all(token.reveal()).map(({ token_mac }) => token_mac);
  const text = `UPDATE login_links l SET used_at = $2 FROM members m
    WHERE l.token_mac = ANY ($1) AND l.used_at IS NULL AND l.expires_at > $2 AND m.workspace_id = l.workspace_id AND m.email = l.email
    RETURNING m.workspace_id, m.email, m.role`;
  const [login] = await database.query<Login>(text, [macs, new Date(at)]);
  return login;
}
