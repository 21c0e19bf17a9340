import { createHash } from 'node:crypto';

/** Crockford's alphabet: no i, l, o and u, and in code order, so that texts sort like numbers. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const BITS_OF_CHARACTER = 5n;
const LENGTH = 26;
const RANDOM_BYTES = 10;
const RANDOM_BITS = 80n;

/** Prefixes of ids by kind. Spec: S2.1. */
type IdPrefix = 'ws' | 'key' | 'sf' | 'bg' | 'req' | 'job' | 'op' | 'obs' | 'evd' | 'cnd' | 'ana';

/** An id: the prefix and 26 characters, in the order of their milliseconds. `random`: returns the requested number of random bytes. */
export function createId(prefix: IdPrefix, nowMs: number, random: (bytes: number) => Uint8Array): string {
  return `${prefix}_${encode((BigInt(nowMs) << RANDOM_BITS) | toInteger(random(RANDOM_BYTES)))}`;
}

/** When an id was created, in milliseconds since the epoch. */
export function timeOfId(id: string): number {
  const characters = id.slice(-LENGTH).split('');
  const value = characters.reduce((sum, character) => (sum << BITS_OF_CHARACTER) | BigInt(ALPHABET.indexOf(character)), 0n);
  return Number(value >> RANDOM_BITS);
}

/** The identity of a signal on every delivery and replay. */
interface SignalIdentity {
  readonly storefront_id: string;
  readonly type: string;
  /** A technology's slug, `from>to` of a migration, or ''. */
  readonly subject: string;
  /** The first observation in the new state. */
  readonly observation_id: string;
}

/** The id of a signal: a hash of its content, without time and randomness. Spec: S9.13. */
export function signalId({ storefront_id, type, subject, observation_id }: SignalIdentity): string {
  const hash = createHash('sha256').update(['v1', storefront_id, type, subject, observation_id].join('|')).digest();
  return `evt_${encode(toInteger(hash) >> (256n - BITS_OF_CHARACTER * BigInt(LENGTH)))}`;
}

function encode(value: bigint): string {
  let text = '';
  for (let rest = value; text.length < LENGTH; rest >>= BITS_OF_CHARACTER) text = ALPHABET[Number(rest & 31n)] + text;
  return text;
}

function toInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}
