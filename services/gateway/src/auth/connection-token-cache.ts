import type { KeyRing, RingKey } from './keys/key-ring.ts';

interface CachedToken {
  readonly token: string;
  readonly key: RingKey;
}

/** Finds the keys of tokens, and caches the last token of every connection: clients send the same token with each request, and comparing
 *  it costs a tenth of hashing it. A token is cached no longer than its connection lives, and verified again when its key has changed. */
export class ConnectionTokenCache {
  readonly #ring: Pick<KeyRing, 'verify' | 'holds'>;
  readonly #tokens = new WeakMap<object, CachedToken>();

  constructor(ring: Pick<KeyRing, 'verify' | 'holds'>) {
    this.#ring = ring;
  }

  keyOf(token: string, connection: object): RingKey | undefined {
    const cached = this.#tokens.get(connection);
    if (cached !== undefined && isSame(cached.token, token) && this.#ring.holds(cached.key)) return cached.key;
    const key = this.#ring.verify(token);
    if (key !== undefined) this.#tokens.set(connection, { token, key });
    return key;
  }
}

/** In constant time: other clients may share the connection on which the token was sent, and must not learn where a guess differs. */
function isSame(token: string, other: string): boolean {
  if (token.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < token.length; at += 1) difference |= token.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}
