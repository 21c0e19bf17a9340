import { invariant } from '@vitrine/faults/invariant';
import { HmacSha256 } from './hmac-sha-256.ts';
import type { Pepper } from './pepper.ts';
import { TOKEN_MAX_LENGTH } from './token.ts';

/** What is kept of a token: its HMAC-SHA-256 and which pepper made it. */
export interface TokenHash {
  readonly pepper_version: number;
  readonly token_mac: Uint8Array;
}

/** Hashes tokens with peppers, the first of which is for new ones. HMAC and not a slow hash: tokens are random, or at least long,
 *  and 14 ms of blocked loop a check would be a lever. Keyed, so that a stolen table cannot be tested against candidates.
 *  Spec: gateway decisions, section 2. */
export class TokenHashes {
  readonly #keys: readonly { readonly version: number; readonly hmac: HmacSha256 }[];

  constructor(peppers: readonly Pepper[]) {
    invariant(peppers.length > 0, 'there is a pepper');
    this.#keys = peppers.map(({ version, secret }) => ({
      version,
      hmac: new HmacSha256(Buffer.from(secret.reveal()), TOKEN_MAX_LENGTH),
    }));
  }

  get versions(): number[] {
    return this.#keys.map(({ version }) => version);
  }

  /** The hash to keep of a new token. */
  hash(token: string): TokenHash {
    const [first] = this.all(token);
    invariant(first !== undefined, 'there is a pepper');
    return first;
  }

  /** The hashes under which the token may be known, newest pepper first. */
  all(token: string): TokenHash[] {
    return this.#keys.map(({ version, hmac }) => ({
      pepper_version: version,
      token_mac: Buffer.from(hmac.of(token), 'latin1'),
    }));
  }

  /** The first that `find` finds by one of the token's hashes, given as latin-1 text; the usual token costs one hash. */
  find<T>(token: string, find: (mac: string) => T | undefined): T | undefined {
    for (const { hmac } of this.#keys) {
      const found = find(hmac.of(token));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
