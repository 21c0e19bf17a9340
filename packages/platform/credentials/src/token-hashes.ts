import { invariant } from '@vitrine/faults/invariant';
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { pepperFingerprint, type PepperIdentity } from './pepper-identity.ts';
import type { Pepper } from './pepper.ts';

/** The stored form of a token: its HMAC-SHA-256 and the version of its pepper. */
export interface TokenHash {
  readonly pepper_version: number;
  readonly token_mac: Uint8Array;
}

/** A hash to store, with the identity of its pepper. */
export type NewTokenHash = TokenHash & PepperIdentity;

/** Hashes tokens with peppers; the first pepper is used for new tokens. Uses HMAC and not a slow hash, because tokens are long, and a password
 *  hash would block the event loop for 14 ms per check. Keyed, so that candidates cannot be tested against a stolen table. Spec: G8.18. */
export class TokenHashes {
  readonly #keys: readonly (PepperIdentity & { readonly key: KeyObject })[];

  constructor(peppers: readonly Pepper[]) {
    invariant(peppers.length > 0, 'there is a pepper');
    this.#keys = peppers.map(({ version, secret }) => {
      const key = createSecretKey(Buffer.from(secret.reveal()));
      return { pepper_version: version, pepper_fingerprint: pepperFingerprint(key), key };
    });
  }

  /** Identities of the peppers, the one of new hashes first. */
  get identities(): PepperIdentity[] {
    return this.#keys.map(({ pepper_version, pepper_fingerprint }) => ({ pepper_version, pepper_fingerprint }));
  }

  /** Whether there is a pepper of this version, with this fingerprint if one is given. */
  has(version: number, fingerprint: string | undefined): boolean {
    const own = this.#keys.find(({ pepper_version }) => pepper_version === version)?.pepper_fingerprint;
    return own !== undefined && (fingerprint === undefined || own === fingerprint);
  }

  /** The hash to store of a new token. */
  hash(token: string): NewTokenHash {
    const [first] = this.all(token);
    invariant(first !== undefined, 'there is a pepper');
    return first;
  }

  /** The hashes under which the token may be stored, newest pepper first. */
  all(token: string): NewTokenHash[] {
    return this.#keys.map(({ key, ...identity }) => ({ ...identity, token_mac: Buffer.from(macOf(key, token), 'latin1') }));
  }

  /** Calls `find` with the token's hashes as latin-1 text, newest pepper first, until it finds something. Usually that takes one hash (2 µs). */
  find<T>(token: string, find: (mac: string) => T | undefined): T | undefined {
    for (const { key } of this.#keys) {
      const found = find(macOf(key, token));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function macOf(key: KeyObject, token: string): string {
  return createHmac('sha256', key).update(token, 'latin1').digest('binary');
}
