import { canonicalDomain } from '../canonical-domain.ts';
import type { ObservationFacts } from '../observation/observation-facts.ts';

/** A store's statements about its identity. */
export interface BrandFacts {
  readonly storefront_id: string;
  readonly domain: string;
  /** `platform:id`. */
  readonly shop_id: string | null;
  readonly organization_ids: readonly string[];
  readonly organization_domain: string | null;
  readonly hreflang_domains: readonly string[];
}

type BrandFact = 'shop_id' | 'hreflang' | 'organization';
const FACTS_OF_A_GROUP = 2;
/** A fact shared by more stores belongs to a platform, an agency or a marketplace, and does not identify a brand. */
export const MAX_SHARING = 50;

/** The facts of an open observation that count for brand groups; undefined if it has none. */
export function brandFactsOf(storefront_id: string, domain: string, facts: ObservationFacts): BrandFacts | undefined {
  const { platform_shop_id: shop, organization, hreflang_domains } = facts;
  const organization_ids = [...new Set(organization?.identifiers.map((id) => id.toLowerCase().replaceAll(/[\s.-]/g, '')))];
  const organization_domain = organization?.url === null ? null : (canonicalDomain(organization?.url ?? '') ?? null);
  const hasAny = shop !== null || organization_ids.length > 0 || organization_domain !== null || hreflang_domains.length > 0;
  if (facts.condition !== 'open' || !hasAny) return undefined;
  return {
    storefront_id,
    domain,
    shop_id: shop === null ? null : `${shop.platform}:${shop.id}`,
    organization_ids: organization_ids.toSorted(),
    organization_domain,
    hreflang_domains: [...new Set(hreflang_domains)].filter((other) => other !== domain).toSorted(),
  };
}

/** Facts that two stores share. Organisations are equal by a registration number, or by their site if that is the domain of one of the two,
 *  because names are not unique, and an agency may declare itself on every site. Alternates count when each names the other. */
export function sharedFacts(a: BrandFacts, b: BrandFacts): BrandFact[] {
  const shared: BrandFact[] = [];
  if (a.shop_id !== null && a.shop_id === b.shop_id) shared.push('shop_id');
  if (a.hreflang_domains.includes(b.domain) && b.hreflang_domains.includes(a.domain)) shared.push('hreflang');
  const isSite = a.organization_domain === a.domain || a.organization_domain === b.domain;
  const hasSameSite = a.organization_domain !== null && a.organization_domain === b.organization_domain && isSite;
  if (hasSameSite || a.organization_ids.some((id) => b.organization_ids.includes(id))) shared.push('organization');
  return shared;
}

/** The stores of the same brand as one: they share two independent, distinctive facts with it. Spec: S8.16. */
export function storesOfBrand<T extends BrandFacts>(one: BrandFacts, others: readonly T[]): T[] {
  const shared = others.map((other) => ({ other, facts: sharedFacts(one, other) }));
  const counts = (fact: BrandFact) => shared.filter(({ facts }) => facts.includes(fact)).length <= MAX_SHARING;
  return shared.filter(({ facts }) => facts.filter(counts).length >= FACTS_OF_A_GROUP).map(({ other }) => other);
}
