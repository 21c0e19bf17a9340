import { TOKEN_MAX_LENGTH } from '@vitrine/credentials/token';
import { DEFAULT_CALLER, forbidden, UNAUTHORIZED, UNVERIFIABLE, type Authenticate } from './caller.ts';
import type { KeyRing } from './key-ring.ts';
import { ConnectionTokenCache } from './connection-token-cache.ts';

/** With authentication off everybody may do everything. */
export const allowAll: Authenticate = () => DEFAULT_CALLER;

/** Accepts the keys of the ring, sent in `header` and nowhere else. A header that came twice reaches us as one text with a comma, which
 *  is no key. Keys of a store that has not answered for too long are not accepted, and neither is their absence believed. */
export function authenticateBy(
  ring: KeyRing,
  { header, isFresh, now }: { header: string; isFresh: () => boolean; now: () => number },
): Authenticate {
  const name = header.toLowerCase();
  const shown = new ConnectionTokenCache(ring);
  return (headers, permission, connection) => {
    const token = headers[name];
    if (typeof token !== 'string' || token === '' || token.length > TOKEN_MAX_LENGTH) return UNAUTHORIZED;
    const key = connection === undefined ? ring.verify(token) : shown.keyOf(token, connection);
    if (key?.isFixed !== true && !isFresh()) return UNVERIFIABLE;
    if (key === undefined) return UNAUTHORIZED;
    key.lastUsedAt = now();
    return key.identity.permissions.has(permission) ? key : forbidden(key);
  };
}
