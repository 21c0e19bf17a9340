import { TOKEN_MAX_LENGTH } from '@vitrine/credentials/token';
import { DEFAULT_CALLER, forbidden, UNAUTHORIZED, UNVERIFIABLE, type Authenticate } from './caller.ts';
import type { KeyRing, RingKey } from './keys/key-ring.ts';

/** With authentication off every request is allowed. */
export const allowAll: Authenticate = () => DEFAULT_CALLER;

interface AuthenticateOptions {
  readonly header: string;
  /** Whether the keys of the store are recent enough. */
  readonly isFresh: () => boolean;
  /** Whether all tokens of the store can be verified. */
  readonly isComplete: () => boolean;
  readonly now: () => number;
}

/** Accepts the keys of the ring, sent in `header` and nowhere else. Node joins a repeated header with a comma, which no key contains. While
 *  the keys of the store are too old, known and unknown tokens are both rejected as unverifiable. While a pepper is missing, unknown
 *  tokens are rejected the same way, because each may have been hashed with it. */
export function authenticateBy(ring: KeyRing, { header, isFresh, isComplete, now }: AuthenticateOptions): Authenticate {
  const name = header.toLowerCase();
  const cache = new ConnectionTokenCache(ring);
  return (headers, permission, connection) => {
    const token = headers[name];
    if (typeof token !== 'string' || token === '' || token.length > TOKEN_MAX_LENGTH) return UNAUTHORIZED;
    const key = connection === undefined ? ring.verify(token) : cache.keyOf(token, connection);
    if (key?.isFixed !== true && !isFresh()) return UNVERIFIABLE;
    if (key === undefined) return isComplete() ? UNAUTHORIZED : UNVERIFIABLE;
    key.lastUsedAt = now();
    return key.identity.permissions.has(permission) ? key : forbidden(key);
  };
}

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
    if (cached !== undefined && isSameToken(cached.token, token) && this.#ring.holds(cached.key)) return cached.key;
    const key = this.#ring.verify(token);
    if (key !== undefined) this.#tokens.set(connection, { token, key });
    return key;
  }
}

/** In constant time: other clients may share the connection on which the token was sent, and must not learn where a guess differs. */
export function isSameToken(token: string, other: string): boolean {
  if (token.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < token.length; at += 1) difference |= token.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}
