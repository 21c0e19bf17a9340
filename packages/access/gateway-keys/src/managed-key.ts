import type { NewTokenHash, TokenHash } from '@vitrine/credentials/token-hashes';
import { NEW_KEY_COLUMNS, type NewKeyColumn } from './key-row.ts';
import type { NewKey } from './key-store.ts';

/** What the resource of a row does not decide. */
const NOT_OF_RESOURCE = ['id', 'created_by', 'created_at', 'managed_by', 'pepper_version', 'token_mac', 'revision'] as const;
type NotOfResource = (typeof NOT_OF_RESOURCE)[number];
type Decided = Exclude<NewKeyColumn, NotOfResource>;

/** The fields of a row that its resource decides: all others of a new key. One that is left out does not compile. */
export type ManagedKeyFields = { readonly [Field in Decided]: NewKey[Field] } & {
  /** Such as `GatewayKey team-a/ci`. */
  readonly managed_resource: string;
};
export const MANAGED_KEY_FIELDS: readonly (keyof ManagedKeyFields)[] = NEW_KEY_COLUMNS.filter(isDecided);

function isDecided(column: NewKeyColumn): column is Decided {
  return !NOT_OF_RESOURCE.some((name) => name === column);
}

/** A row for the operator, with any owner. */
export interface ManagedKey extends Omit<ManagedKeyFields, 'managed_resource'> {
  readonly id: string;
  readonly managed_resource: string | undefined;
  /** The owning resource; undefined for keys created otherwise. */
  readonly owner_uid: string | undefined;
  readonly isRevoked: boolean;
  readonly token: TokenHash;
  /** Fingerprint of the pepper that hashed the token; undefined for hashes of versions that recorded none. */
  readonly pepper_fingerprint: string | undefined;
  /** Already accepted, and published next. */
  readonly next: TokenHash | undefined;
}

/** The last change of a row. */
export interface ManagedKeyRevision {
  readonly owner_uid: string;
  readonly revision: number;
  /** Whether this writer made it. */
  readonly isOwn: boolean;
}

/** The row, and the resource that must own it. Rows of other owners are never changed. */
export interface OwnedKey {
  readonly id: string;
  readonly owner_uid: string;
}

/** The hashes of a token under every pepper, the newest first. */
export type TokenOfKey = readonly [NewTokenHash, ...NewTokenHash[]];

/** A row to create for a resource. */
export interface NewManagedKey {
  readonly key: OwnedKey;
  readonly fields: ManagedKeyFields;
  readonly token: TokenOfKey;
}

export type RegisterOutcome = 'registered' | 'id_taken' | 'token_taken' | 'full' | 'pepper_mismatch';
export type TokenOutcome = 'written' | 'token_taken' | 'not_owned' | 'pepper_mismatch';

/** The rows of keys that resources own. Every change is one transaction with its audit event, and other processes are notified of it. A token that
 *  any key has or had is reserved forever. Faults: `key_store_unavailable`, and those of the transactions. */
export interface ManagedKeyRows {
  /** Also of a key that is revoked. */
  read(id: string): Promise<ManagedKey | undefined>;
  /** The rows that resources own and that are not revoked. Faults: also those of the transactions, although it writes nothing. */
  revisions(): Promise<readonly ManagedKeyRevision[]>;
  /** Creates the row. Its id must never have been used. The same token is not a conflict if the row of this id was deleted. */
  register(key: OwnedKey, fields: ManagedKeyFields, token: TokenOfKey): Promise<RegisterOutcome>;
  /** Registers each of up to some hundred keys, in one transaction; resolves with an outcome for each. */
  registerAll(keys: readonly NewManagedKey[]): Promise<readonly RegisterOutcome[]>;
  /** Whether the row is the resource's and not revoked. */
  update(key: OwnedKey, fields: ManagedKeyFields): Promise<boolean>;
  /** Transfers an unowned row of this tenant that is not revoked to the resource. */
  adopt(key: OwnedKey, fields: ManagedKeyFields): Promise<boolean>;
  /** Accepts a token in addition to the present one. */
  stageToken(key: OwnedKey, token: TokenOfKey): Promise<TokenOutcome>;
  /** Promotes the staged token to the key's token. The old one is accepted for another `graceMs`, unless the key was revoked. */
  promoteToken(key: OwnedKey, graceMs: number): Promise<boolean>;
  /** Stages and promotes a token at once. */
  replaceToken(key: OwnedKey, token: TokenOfKey, graceMs: number): Promise<TokenOutcome>;
  /** Replaces the hash of the present token by the first of `to`; false when the row now has another token. */
  moveToken(id: string, from: TokenHash, to: TokenOfKey): Promise<boolean>;
  /** Returns false when the resource had nothing to revoke. */
  revoke(key: OwnedKey): Promise<boolean>;
  /** Ends the resource's ownership: the row can be changed over REST from now on. */
  release(key: OwnedKey): Promise<boolean>;
}
