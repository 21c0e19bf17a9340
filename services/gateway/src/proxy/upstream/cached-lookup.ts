import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/** So long the addresses of a name are used without asking again. */
const FRESH_MS = 5_000;
/** So long they are used while they are asked for once more, also when that fails. */
const USABLE_MS = 60_000;

type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;
const resolveName: Resolve = (hostname) => lookup(hostname, { all: true });

/** The addresses of one name, for all connections to it. Node asks for each connection, two at a time: those that a gateway opens when it
 *  starts would wait for each other, and all would fail while DNS is slow. */
export function cachedLookup(resolve = resolveName, now = () => performance.now()): LookupFunction {
  let known: { readonly addresses: readonly LookupAddress[]; readonly at: number } = { addresses: [], at: -Infinity };
  let asked: Promise<readonly LookupAddress[]> | undefined;

  async function ask(hostname: string): Promise<readonly LookupAddress[]> {
    try {
      const addresses = await resolve(hostname);
      known = { addresses, at: now() };
      return addresses;
    } finally {
      asked = undefined;
    }
  }

  return (hostname, { all }, callback) => {
    const ageMs = now() - known.at;
    const isUsable = ageMs < USABLE_MS;
    if (ageMs >= FRESH_MS) asked ??= ask(hostname);
    // Connections with known addresses do not wait, and ignore a failed lookup.
    if (isUsable) asked?.catch(() => {});
    const addresses = isUsable || asked === undefined ? Promise.resolve(known.addresses) : asked;
    addresses.then(
      (found) => (all === true ? callback(null, [...found]) : callback(null, found[0]?.address ?? '', found[0]?.family)),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
