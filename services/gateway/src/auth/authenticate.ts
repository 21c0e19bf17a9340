import { TOKEN_MAX_LENGTH } from '@vitrine/credentials/token';
import { DEFAULT_CALLER, forbidden, UNAUTHORIZED, UNVERIFIABLE, type Authenticate } from './caller.ts';
import type { KeyRing } from './keys/key-ring.ts';
import { ConnectionTokenCache } from './connection-token-cache.ts';

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
 *  the keys of the store are too old, known and unknown tokens are both rejected as unverifiable. While a pepper is missing, unknown tokens are: each may be
 *  one that was hashed with it. */
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
