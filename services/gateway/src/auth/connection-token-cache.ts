import type { KeyRing, RingKey } from './key-ring.ts';

interface Shown {
  readonly token: string;
  readonly key: RingKey;
}

/** Finds the keys of tokens, and remembers of every connection the last one it showed: clients send the same token with each request, and
 *  comparing it costs a tenth of hashing it. A token is kept no longer than its connection, and its key is asked for anew when it has
 *  changed. */
export class ConnectionTokenCache {
  readonly #ring: Pick<KeyRing, 'verify' | 'holds'>;
  readonly #shown = new WeakMap<object, Shown>();

  constructor(ring: Pick<KeyRing, 'verify' | 'holds'>) {
    this.#ring = ring;
  }

  keyOf(token: string, connection: object): RingKey | undefined {
    const shown = this.#shown.get(connection);
    if (shown !== undefined && isSame(shown.token, token) && this.#ring.holds(shown.key)) return shown.key;
    const key = this.#ring.verify(token);
    if (key !== undefined) this.#shown.set(connection, { token, key });
    return key;
  }
}

/** In a time that does not tell where they differ: others may share the connection of whoever showed the token. */
function isSame(token: string, other: string): boolean {
  if (token.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < token.length; at += 1) difference |= token.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}
