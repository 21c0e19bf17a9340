import type { JsonLdOrganization, PageEvidence } from '@vitrine/registry/evidence/evidence';
import { canonicalDomain } from '@vitrine/stores/canonical-domain';
import type { ObservationFacts } from '@vitrine/stores/observation/observation-facts';

/** Of `Organization.identifiers`. */
const MAX_IDENTIFIER = 200;

/** Organisations in structured data that describe the store: those without a site, or with the store's own. */
export function ownOrganizations(pages: readonly PageEvidence[], domain: string): JsonLdOrganization[] {
  const isOwn = ({ url }: JsonLdOrganization) => url === null || url.startsWith('/') || canonicalDomain(url) === domain;
  return pages.flatMap(({ jsonLd }) => jsonLd.organizations).filter(isOwn);
}

/** The organisation behind the store, for brand groups: the first with a register number, else the first with a name. */
export function declaredOrganization(organizations: readonly JsonLdOrganization[]): ObservationFacts['organization'] {
  const chosen = organizations.find(({ vatId }) => vatId !== null) ?? organizations.find(({ name }) => name !== null);
  if (chosen === undefined) return null;
  const { name, url, vatId } = chosen;
  return { name: name || null, url: url || null, identifiers: vatId ? [`vatID:${vatId}`.slice(0, MAX_IDENTIFIER)] : [] };
}

/** Domains of other storefronts that the home page declares as alternates. */
export function hreflangDomains(home: PageEvidence | undefined, domain: string): string[] {
  const addresses = (home?.hreflang ?? [])
    .map((entry) => entry.slice(entry.indexOf(' ') + 1))
    .filter((address) => !address.startsWith('/'));
  const domains = new Set(addresses.map(canonicalDomain).filter((one) => one !== undefined));
  domains.delete(domain);
  return [...domains].slice(0, 100);
}
