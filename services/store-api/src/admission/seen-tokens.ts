import type { KeyIdentity } from '@vitrine/stores/admission/admit-request';

/** Maximum number of tokens with a known key. The least recently used is forgotten first. */
export const MAX_SEEN_TOKENS = 50_000;
/** Spec: S5.11. */
export const MAX_REFUSED_TOKENS = 10_000;
const REFUSED_MS = 5_000;

/** Caches the result of token lookups by keyed hash: the key of a token, or that it was unknown some seconds ago. It selects the bound of a
 *  request and never admits one, because the key is read again for each request. */
export class SeenTokens {
  readonly #clock: () => number;
  readonly #identities = new Map<string, KeyIdentity>();
  /** The expiry of each token, in order. */
  readonly #refused = new Map<string, number>();

  /** `clock`: milliseconds, monotonic. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get figures(): { readonly seen: number; readonly refused: number } {
    return { seen: this.#identities.size, refused: this.#refused.size };
  }

  identityOf(mac: string): KeyIdentity | undefined {
    const identity = this.#identities.get(mac);
    // The last used one moves to the end.
    if (identity !== undefined) this.#identities.delete(mac);
    if (identity !== undefined) this.#identities.set(mac, identity);
    return identity;
  }

  isRefused(mac: string): boolean {
    const until = this.#refused.get(mac);
    if (until === undefined) return false;
    if (until > this.#clock()) return true;
    this.#refused.delete(mac);
    return false;
  }

  remember(mac: string, identity: KeyIdentity): void {
    put(this.#identities, mac, identity, MAX_SEEN_TOKENS);
  }

  refuse(mac: string): void {
    this.#identities.delete(mac);
    put(this.#refused, mac, this.#clock() + REFUSED_MS, MAX_REFUSED_TOKENS);
  }

  forget(mac: string): void {
    this.#identities.delete(mac);
  }
}

function put<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
