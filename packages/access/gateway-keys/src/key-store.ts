import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import type { PepperProblem, StoredPeppers } from '@vitrine/credentials/pepper-problem';
import type { NewTokenHash, TokenHash } from '@vitrine/credentials/token-hashes';
import { Fault, messageOf } from '@vitrine/faults/fault';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { AuditEvent, AuditLog } from './audit-log.ts';
import type { KeyRow } from './key-row.ts';

/** A key to create; the store assigns its revision. */
export type NewKey = Omit<KeyRow, 'revision' | 'last_used_at' | 'next' | 'previous'>;

/** What changes in an active key: columns, and its token. */
export interface KeyUpdate extends Partial<Pick<NewKey, 'name' | 'description' | 'role' | 'permissions' | 'plan'>> {
  /** Ends the key, at milliseconds since the epoch. */
  readonly revoked_at?: number;
  /** The hashes of a new token, of which the first becomes the key's; the old token is invalid from then on. A key whose pepper is missing can have
   *  a new token. */
  readonly token?: readonly [NewTokenHash, ...NewTokenHash[]];
}

/** The hashes of a key's token, under every pepper. */
export interface KeyTokens {
  readonly id: string;
  readonly known: readonly NewTokenHash[];
}

/** A token of a key that was used, and its hash under the pepper of new hashes. */
export interface TokenMove {
  readonly id: string;
  readonly from: TokenHash;
  readonly to: NewTokenHash;
}

/** When a key was used, milliseconds since the epoch. */
export interface KeyUse {
  readonly id: string;
  readonly at: number;
}

/** The changes after a revision; after 0, every active key. A store assigns revisions so that the later of two changes of a key has the higher
 *  one, in any process. */
export interface KeyChanges {
  /** Identifies the stored data. A different value means that the store was replaced and earlier changes are void. */
  readonly store: string;
  /** Every change up to this revision is included here or in an earlier read. Changes above it may be included and are then repeated, because with
   *  concurrent writers a lower revision may be committed after a higher one. A lower value than before means that the store was restored from an
   *  older copy. */
  readonly revision: number;
  readonly active: readonly KeyRow[];
  readonly revoked: readonly { readonly id: string; readonly revision: number }[];
}

export type CreateOutcome =
  | { readonly kind: 'created'; readonly row: KeyRow }
  | { readonly kind: 'id_taken' | 'token_taken' }
  | { readonly kind: 'full'; readonly maxActiveKeys: number }
  | PepperMismatch;
export type UpdateOutcome =
  | { readonly kind: 'updated'; readonly row: KeyRow }
  | { readonly kind: 'token_taken' | 'not_found' }
  | PepperMismatch;
/** The caller's peppers cannot verify the stored tokens, so nothing was stored. */
export interface PepperMismatch {
  readonly kind: 'pepper_mismatch';
  readonly problem: PepperProblem;
}

/** Stores gateway keys; any number of processes may write to one store. A given tenant hides the rows of all others, also from changes. A change
 *  and its audit event are stored together or not at all. Ids and tokens that a key has or ever had stay reserved in every tenant: `known` are all
 *  hashes under which a new token might already be stored. Faults: `key_store_unavailable`. */
export interface KeyStore {
  /** Active keys by `created_at`, then `id`. */
  list(tenant: Tenant | undefined): Promise<KeyRow[]>;
  /** An active key. */
  find(id: string, tenant: Tenant | undefined): Promise<KeyRow | undefined>;
  /** Whether a key has or had this id, active or not, in any tenant. */
  hasId(id: string): Promise<boolean>;
  /** `idAsToken` are the hashes of the key's id: ids are visible, so none may equal a token. */
  create(
    key: NewKey,
    known: readonly NewTokenHash[],
    event: AuditEvent,
    idAsToken?: readonly TokenHash[],
  ): Promise<CreateOutcome>;
  update(id: string, tenant: Tenant | undefined, update: KeyUpdate, event: AuditEvent): Promise<UpdateOutcome>;
  /** Reserves the tokens of keys that are not stored here (those of the YAML file). Resolves with the ids of those keys whose token belongs or
   *  belonged to another key. Reserves nothing while the peppers do not match. */
  keepTokens(keys: readonly KeyTokens[]): Promise<string[]>;
  changes(since: number): Promise<KeyChanges>;
  /** Sets `last_used_at` where the given time is later. */
  markUsed(uses: readonly KeyUse[]): Promise<void>;
  /** Replaces hashes of tokens that keys still have, and resolves with these keys. Both hashes stay reserved. */
  moveTokens(moves: readonly TokenMove[]): Promise<KeyRow[]>;
  /** Records peppers that verified stored tokens, because hashes of earlier versions have no record. */
  recordPeppers(peppers: readonly PepperIdentity[]): Promise<void>;
  storedPeppers(): Promise<StoredPeppers>;
  /** Calls `onChange` after another process has changed something, about a second later. */
  watch(onChange: () => void): Disposable;
}

/** The bounds of a store, which tests lower. */
export const KEY_BOUNDS = {
  /** Every gateway process has all active keys in memory. */
  maxActiveKeys: 20_000,
  /** Stored denials of each kind (`audit-rows.ts`): a client that is denied constantly must not fill the disk. */
  maxDenials: 1_000_000,
};

export type KeyBounds = Partial<Readonly<typeof KEY_BOUNDS>>;

/** Reads that do not change or migrate the store. */
export type KeyReader = Pick<KeyStore, 'list' | 'storedPeppers'> & Pick<AuditLog, 'listAudit'>;

/** The columns of a key's new token; none without one. */
export function tokenColumns(token: KeyUpdate['token']): Partial<TokenHash> {
  return token === undefined ? {} : { pepper_version: token[0].pepper_version, token_mac: token[0].token_mac };
}

export function keyStoreUnavailable(path: string, cause: unknown): Fault {
  const reason = messageOf(cause);
  return new Fault('key_store_unavailable', { say: 'gateway key store is unavailable', log: { path, reason }, cause });
}
