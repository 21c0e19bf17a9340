import { parse } from 'tldts';

/** The public suffix list is part of tldts, so its version is that of the package. A new one may change identities, like a new tenant suffix. */
export const PUBLIC_SUFFIX_LIST = 'tldts@7.5.4';

/** Suffixes below which hosted platforms give each store a name, and which the public suffix list lacks. Without them all stores of a platform
 *  would be one. They change identities, so a release that changes them needs a migration of the stores below them. Spec: S4.2. */
export const TENANT_SUFFIXES: readonly string[] = [
  'bigcartel.com',
  'cafe24.com',
  'cafe24shop.com',
  'company.site',
  'demandware.net',
  'ecwid.com',
  'gumroad.com',
  'lojavirtualnuvem.com.br',
  'mitiendanube.com',
  'mybigcommerce.com',
  'myharavan.com',
  'myshoplaza.com',
  'myshopline.com',
  'myshoptet.com',
  'myvtex.com',
  'odoo.com',
  'onshopbase.com',
  'shoplineapp.com',
  'squarespace.com',
  'storenvy.com',
  'webshopapp.com',
  'weebly.com',
  'weeblysite.com',
  'youcan.shop',
  'zid.store',
];

/** In the list, but no store can be reached below them from the public internet (RFC 7686, RFC 3172). */
const NOT_PUBLIC = ['onion', 'arpa'];
const OPTIONS = { allowPrivateDomains: true, extractHostname: false, extraSuffixes: { private: TENANT_SUFFIXES } };

/** The domain registered by an owner, or given to one tenant by a platform, of a host name in lower case and A-labels. Undefined for
 *  addresses, suffixes themselves, and names without a public suffix such as `shop.local`. Takes 2 µs. */
export function registrableDomain(hostname: string): string | undefined {
  const { domain, isIp, isIcann, isPrivate, publicSuffix } = parse(hostname, OPTIONS);
  if (domain === null || isIp === true || NOT_PUBLIC.includes(publicSuffix?.split('.').at(-1) ?? '')) return undefined;
  return isIcann === true || isPrivate === true ? domain : undefined;
}
