import type { TokenHash } from '@vitrine/credentials/token-hashes';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { AuditEventPage, AuditQuery } from './audit-event-page.ts';
import type { AuditEvent } from './audit-event.ts';
import type { KeyRow } from './gateway-key.ts';

/** A key to be made; the store gives it its revision. */
export type NewKey = Omit<KeyRow, 'revision' | 'last_used_at'>;

/** The hashes of a key's token, under every pepper. */
export interface KeyTokens {
  readonly id: string;
  readonly known: readonly TokenHash[];
}

/** What has changed after a revision; after 0 it is every active key. */
export interface KeyChanges {
  /** Another than before: the store was replaced, and what it had told says nothing any more. */
  readonly store: string;
  /** The store's last. One that is lower than before means that the store was put back to an older copy. */
  readonly revision: number;
  readonly active: readonly KeyRow[];
  readonly revoked: readonly { readonly id: string; readonly revision: number }[];
}

export type CreateOutcome =
  | { readonly kind: 'created'; readonly row: KeyRow }
  | { readonly kind: 'id_taken' | 'token_taken' | 'full' };
export type RotateOutcome = { readonly kind: 'rotated'; readonly row: KeyRow } | { readonly kind: 'token_taken' | 'not_found' };
export type RevokeOutcome = { readonly kind: 'revoked'; readonly revision: number } | { readonly kind: 'not_found' };

/** Where gateway keys are kept. A tenant, when given, hides the rows of all others, also from changes. Every change is made together
 *  with its audit event, or not at all. Ids and tokens that a key has or ever had stay taken, whoever's they were: `known` are all
 *  hashes under which a new token might already be there. Faults: `key_store_unavailable`. */
export interface KeyStore {
  /** Active keys by `created_at`, then `id`. */
  list(tenant: Tenant | undefined): Promise<KeyRow[]>;
  find(id: string, tenant: Tenant | undefined): Promise<KeyRow | undefined>;
  /** Whether a key has or had this id, active or not, of whichever tenant. */
  hasId(id: string): Promise<boolean>;
  /** `idAsToken` are the hashes of the key's id: an id is shown, so none may be what somebody's token is. */
  create(key: NewKey, known: readonly TokenHash[], event: AuditEvent, idAsToken?: readonly TokenHash[]): Promise<CreateOutcome>;
  /** The first of `known` becomes the key's hash, and the old token ends. */
  rotate(
    id: string,
    tenant: Tenant | undefined,
    known: readonly [TokenHash, ...TokenHash[]],
    event: AuditEvent,
  ): Promise<RotateOutcome>;
  revoke(id: string, tenant: Tenant | undefined, event: AuditEvent): Promise<RevokeOutcome>;
  /** Makes the tokens of keys that are kept elsewhere (the YAML file) taken for ever; answers the ids of those whose token another
   *  key has or had. */
  keepTokens(keys: readonly KeyTokens[]): Promise<string[]>;
  changes(since: number): Promise<KeyChanges>;
  /** Sets `last_used_at` where that is later. */
  markUsed(uses: readonly { readonly id: string; readonly at: number }[]): Promise<void>;
  /** Tells when another process has changed something, a second later or so. */
  watch(onChange: () => void): Disposable;
}

/** Where audit events are kept. Faults: `key_store_unavailable`. */
export interface AuditStore {
  appendAudit(events: readonly AuditEvent[]): Promise<void>;
  /** Removes some of the events before a moment, and of each kind of denials the oldest beyond a bound; answers how many. To be called
   *  until it answers 0. */
  removeAuditBefore(at: number): Promise<number>;
}

/** The reading side of the same. Faults: `key_store_unavailable`. */
export interface AuditEvents {
  listAudit(query: AuditQuery): Promise<AuditEventPage>;
}
