import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { codeOf } from '@vitrine/faults/fault';
import { FetchError } from './fetch-error.ts';
import { isLoopbackAddress, isPublicAddress } from './public-address.ts';

const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;
/** More addresses than any shop has. A name with more is refused, because each address is checked. */
const MAX_ADDRESSES = 64;
/** No name below these is on the public internet (RFC 6761, RFC 7686, RFC 9476). */
const NOT_PUBLIC = new Set([
  'localhost', 'local', 'internal', 'onion', 'arpa', 'test', 'invalid', 'example', 'alt', 'lan', 'home', 'corp',
]); // prettier-ignore

/** All addresses of a name; none when it has none. */
export type ResolveAddresses = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Names of tests and the demo, served by this machine. */
export type LoopbackHosts = Readonly<
  Record<string, { readonly address: string; readonly http_port: number; readonly https_port: number }>
>;

/** The checked addresses of a host, and the port if it differs from that of the URL. */
export interface CheckedHost {
  readonly hostname: string;
  readonly addresses: readonly [string, ...string[]];
  /** Set for names of the loopback allow-list. */
  readonly loopbackPorts: { readonly http: number; readonly https: number } | undefined;
}

/** Queries the system's name servers for exactly this name, without search domains and hosts file. Uses no pool thread that a slow name server
 *  could block. Takes at most 5 s. */
export async function resolveByDns(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    signal.throwIfAborted();
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    const failed = results.find(
      (result) => result.status === 'rejected' && !['ENODATA', 'ENOTFOUND'].includes(codeOf(result.reason)),
    );
    if (addresses.length === 0 && failed?.status === 'rejected') throw failed.reason;
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Resolves and checks a host of a URL: a literal address, or every address of a name. One address that is not public refuses the name. The result
 *  is used without another lookup. Throws FetchError: `dns`, `refused_address`. */
export async function resolveHost(
  urlHostname: string,
  { resolve, loopbackHosts }: { readonly resolve: ResolveAddresses; readonly loopbackHosts: LoopbackHosts },
  signal: AbortSignal,
): Promise<CheckedHost> {
  const hostname = urlHostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const loopback = Object.hasOwn(loopbackHosts, hostname) ? loopbackHosts[hostname] : undefined;
  if (loopback !== undefined) {
    if (!isLoopbackAddress(loopback.address)) throw refused(hostname, `${loopback.address} is not a loopback address`);
    const loopbackPorts = { http: loopback.http_port, https: loopback.https_port };
    return { hostname, addresses: [loopback.address], loopbackPorts };
  }
  const [first, ...rest] = checked(hostname, await addressesOf(hostname, resolve, signal));
  if (first === undefined) throw new FetchError('dns', `${hostname} has no address`);
  return { hostname, addresses: [first, ...rest], loopbackPorts: undefined };
}

async function addressesOf(hostname: string, resolve: ResolveAddresses, signal: AbortSignal): Promise<readonly string[]> {
  if (isIP(hostname) !== 0) return [hostname];
  const suffix = hostname.split('.').at(-1) ?? '';
  if (!hostname.includes('.') || NOT_PUBLIC.has(suffix)) throw refused(hostname, 'it is not a public name');
  try {
    return await resolve(hostname, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new FetchError('dns', `${hostname} does not resolve: ${codeOf(cause) || String(cause)}`, { cause });
  }
}

function checked(hostname: string, addresses: readonly string[]): string[] {
  if (addresses.length > MAX_ADDRESSES) throw refused(hostname, `it has more than ${MAX_ADDRESSES} addresses`);
  const notPublic = addresses.find((address) => !isPublicAddress(address));
  if (notPublic !== undefined) throw refused(hostname, `${notPublic} is not public`);
  // IPv4 first: many clusters route nothing else.
  return addresses.toSorted((a, b) => isIP(a) - isIP(b));
}

function refused(hostname: string, why: string): FetchError {
  return new FetchError('refused_address', `${hostname} is refused: ${why}`);
}
