import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/** How long addresses are used without another lookup. */
const FRESH_MS = 5_000;
/** How long they are used during another lookup, and after one that failed. */
const USABLE_MS = 60_000;

type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;
const resolveName: Resolve = (hostname) => lookup(hostname, { all: true });

/** Looks one name up for all connections to it. Node looks it up for each connection, two at a time for the process: the hundreds that a
 *  gateway opens when it starts would wait for each other, and would all fail while DNS is slow. */
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
    // Connections with known addresses do not wait and ignore a failed lookup.
    if (isUsable) asked?.catch(() => {});
    const addresses = isUsable || asked === undefined ? Promise.resolve(known.addresses) : asked;
    addresses.then(
      (found) => (all === true ? callback(null, [...found]) : callback(null, found[0]?.address ?? '', found[0]?.family)),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
