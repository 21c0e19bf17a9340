import { parse } from 'tldts';
import { TENANT_SUFFIXES } from './tenant-suffixes.ts';

/** The public suffix list is part of tldts, so its version is that of the package. A new one may change identities, like a new tenant suffix. */
export const PUBLIC_SUFFIX_LIST = 'tldts@7.5.4';

/** In the list, but no store can be reached below them from the public internet (RFC 7686, RFC 3172). */
const NOT_PUBLIC = ['onion', 'arpa'];
const OPTIONS = { allowPrivateDomains: true, extractHostname: false, extraSuffixes: { private: TENANT_SUFFIXES } };

/** The domain that somebody registered, or that a platform gave to one tenant, of a host name in lower case and A-labels. Undefined for
 *  addresses, suffixes themselves, and names without a public suffix such as `shop.local`. Takes 2 µs. */
export function registrableDomain(hostname: string): string | undefined {
  const { domain, isIp, isIcann, isPrivate, publicSuffix } = parse(hostname, OPTIONS);
  if (domain === null || isIp === true || NOT_PUBLIC.includes(publicSuffix?.split('.').at(-1) ?? '')) return undefined;
  return isIcann === true || isPrivate === true ? domain : undefined;
}
