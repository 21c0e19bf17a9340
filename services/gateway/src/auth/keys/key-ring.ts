import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import { identityOf, keyScope, type Identity } from '@vitrine/gateway-keys/gateway-key';
import type { KeyRow } from '@vitrine/gateway-keys/key-row';
import type { KeyChanges, KeyUse, TokenMove } from '@vitrine/gateway-keys/key-store';
import { timingSafeEqual } from 'node:crypto';
import type { Caller } from '../caller.ts';

const MAC_BYTES = 32;

/** An accepted key with the fields that the request path needs. */
export interface RingKey extends Caller {
  readonly identity: Identity;
  /** The hashes of its tokens, as text. */
  readonly macs: readonly string[];
  readonly revision: number;
  /** A key of the YAML file, which the store cannot change. */
  readonly isFixed: boolean;
  /** When this process last accepted it, milliseconds since the epoch; 0 for never. */
  lastUsedAt: number;
  /** The last stored use. */
  storedUseAt: number;
}

/** The key of an accepted token. */
interface RingToken {
  readonly key: RingKey;
  readonly mac: Uint8Array;
  readonly pepperVersion: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Every accepted key of this process, by the keyed hash of its token. Changes of the store may arrive late and out of order: of two
 *  changes of a key the one with the higher revision applies. */
export class KeyRing {
  readonly #hashes: TokenHashes;
  readonly #byMac = new Map<string, RingToken>();
  readonly #byId = new Map<string, RingKey>();
  /** Revisions of keys removed here. Changes that were read earlier may still contain them. */
  readonly #removed = new Map<string, number>();
  /** Reused for comparisons; a buffer for each request would cost more than the comparison. */
  readonly #candidate = Buffer.alloc(MAC_BYTES);
  /** Versions of peppers that have verified a token of the store. */
  readonly #verifiedWith = new Set<number>();
  /** New hashes of used tokens that are hashed with an older pepper, by the old hash as text. */
  readonly #moves = new Map<string, TokenMove>();
  readonly #newestPepper: number | undefined;
  readonly #now: () => number;
  #revision = 0;
  #additions = 0;

  /** `fixed` are the keys of the YAML file, which take precedence over keys of the store with the same id or token. `now`: milliseconds since
   *  the epoch. */
  constructor(hashes: TokenHashes, fixed: readonly KeyRow[], now: () => number = Date.now) {
    this.#hashes = hashes;
    this.#now = now;
    this.#newestPepper = hashes.identities[0]?.pepper_version;
    for (const row of fixed) this.#add(row, true);
  }

  get size(): number {
    return this.#byId.size;
  }

  get ids(): string[] {
    return [...this.#byId.keys()];
  }

  /** The revision of the last applied changes. */
  get revision(): number {
    return this.#revision;
  }

  /** Increases with every added key: until then an unknown token stays unknown. */
  get additions(): number {
    return this.#additions;
  }

  /** The key with this token. It costs one hash, unless there are older peppers. */
  verify(token: string): RingKey | undefined {
    const found = this.#hashes.find(token, this.#withMac);
    if (found === undefined) return undefined;
    if (!found.key.isFixed) this.#noteHash(token, found);
    return found.key;
  }

  /** Whether the key is still accepted unchanged: every change of a key replaces its object. Never true for a key found by its previous token,
   *  which is accepted for a short time only. */
  holds(key: RingKey): boolean {
    return this.#byId.get(key.identity.key_id) === key;
  }

  readonly #withMac = (mac: string): RingToken | undefined => {
    const token = this.#byMac.get(mac);
    if (token === undefined || (token.until !== Infinity && token.until <= this.#now())) return undefined;
    this.#candidate.write(mac, 'latin1');
    return timingSafeEqual(token.mac, this.#candidate) ? token : undefined;
  };

  apply({ revision, active, revoked }: Omit<KeyChanges, 'store'>): void {
    if (this.#revision === 0) this.#keepOnly(active, revision);
    for (const row of active) this.put(row);
    for (const { id, revision: at } of revoked) this.remove(id, at);
    for (const [id, at] of this.#removed) if (at <= revision) this.#removed.delete(id);
    this.#revision = revision;
  }

  put(row: KeyRow): void {
    if (row.revision <= (this.#removed.get(row.id) ?? 0)) return;
    const known = this.#byId.get(row.id);
    if (known?.isFixed === true || (known !== undefined && known.revision >= row.revision)) return;
    this.#add(row, false);
  }

  remove(id: string, revision: number): void {
    const known = this.#byId.get(id);
    if (known?.isFixed === true || (known !== undefined && known.revision > revision)) return;
    if (known !== undefined) this.#drop(id, known);
    if (revision > this.#revision) this.#removed.set(id, revision);
  }

  /** Removes the keys of the store, before all of them are read again. */
  clear(): void {
    for (const [id, key] of this.#byId) if (!key.isFixed) this.#drop(id, key);
    this.#removed.clear();
    this.#revision = 0;
  }

  lastUsedAt(id: string): number {
    return this.#byId.get(id)?.lastUsedAt ?? 0;
  }

  /** Uses of the store's keys that are not stored yet. Compared key by key, because clocks can be set back. */
  unstoredUses(): KeyUse[] {
    const uses: KeyUse[] = [];
    for (const [id, { lastUsedAt: at, storedUseAt, isFixed }] of this.#byId)
      if (at !== storedUseAt && !isFixed) uses.push({ id, at });
    return uses;
  }

  /** Marks uses as stored. */
  usesStored(uses: readonly KeyUse[]): void {
    for (const { id, at } of uses) {
      const key = this.#byId.get(id);
      if (key !== undefined) key.storedUseAt = at;
    }
  }

  /** Whether a stored token was verified with the pepper of this version, which proves that the pepper is correct. */
  hasVerifiedWith(version: number): boolean {
    return this.#verifiedWith.has(version);
  }

  /** Tokens whose hashes the store should replace. */
  tokenMoves(): TokenMove[] {
    return [...this.#moves.values()];
  }

  /** Removes replacements that the store has made or found impossible. */
  movesStored(moves: readonly TokenMove[]): void {
    for (const { from } of moves) this.#moves.delete(macText(from.token_mac));
  }

  /** The plain token is available only while it is used, so it can be hashed with another pepper only then. */
  #noteHash(token: string, { key, mac, pepperVersion, until }: RingToken): void {
    this.#verifiedWith.add(pepperVersion);
    if (pepperVersion === this.#newestPepper || until !== Infinity) return;
    const from = { pepper_version: pepperVersion, token_mac: mac };
    if (!this.#moves.has(macText(mac)))
      this.#moves.set(macText(mac), { id: key.identity.key_id, from, to: this.#hashes.hash(token) });
  }

  #add(row: KeyRow, isFixed: boolean): void {
    const { next, previous } = row;
    const tokens = [row, next, previous].filter((token) => token !== undefined);
    const macs = tokens.map(({ token_mac }) => macText(token_mac));
    for (const mac of macs) {
      const holder = this.#byMac.get(mac)?.key;
      if (holder === undefined || holder.identity.key_id === row.id) continue;
      // The later change has the token; the other key has another token by now, in a change that is not applied yet.
      if (holder.isFixed || holder.revision > row.revision) return;
      this.#drop(holder.identity.key_id, holder);
    }
    const known = this.#byId.get(row.id);
    if (known !== undefined) this.#drop(row.id, known);
    const key: RingKey = {
      identity: identityOf(row),
      scope: keyScope(row),
      macs,
      revision: row.revision,
      isFixed,
      lastUsedAt: known?.lastUsedAt ?? 0,
      storedUseAt: known?.storedUseAt ?? 0,
    };
    for (const { token_mac: mac, pepper_version: pepperVersion } of [row, next].filter((token) => token !== undefined))
      this.#byMac.set(macText(mac), { key, mac, pepperVersion, until: Infinity });
    // A separate object, so that connections do not cache it beyond its time.
    if (previous !== undefined) {
      const { token_mac: mac, pepper_version: pepperVersion, until } = previous;
      this.#byMac.set(macText(mac), { key: { ...key }, mac, pepperVersion, until });
    }
    this.#byId.set(row.id, key);
    this.#additions += 1;
  }

  /** Changes from the start contain no revocations. Keys added earlier may have been revoked since. */
  #keepOnly(active: readonly KeyRow[], revision: number): void {
    const there = new Set(active.map(({ id }) => id));
    for (const [id, key] of this.#byId) if (!key.isFixed && key.revision <= revision && !there.has(id)) this.#drop(id, key);
  }

  #drop(id: string, key: RingKey): void {
    for (const mac of key.macs) {
      this.#byMac.delete(mac);
      this.#moves.delete(mac);
    }
    this.#byId.delete(id);
  }
}

function macText(mac: Uint8Array): string {
  return Buffer.from(mac).toString('latin1');
}
