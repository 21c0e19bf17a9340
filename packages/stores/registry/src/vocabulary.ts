import type { CategorySlug, RulesBySlug, Technology, TechnologiesByCategory, TechnologyEntry } from './technology.ts';
import { ADVERTISING } from './technologies/advertising.ts';
import { CHECKOUT } from './technologies/checkout.ts';
import { CUSTOMER_LOYALTY } from './technologies/customer-loyalty.ts';
import { DELIVERY_NETWORK } from './technologies/delivery-network.ts';
import { HOSTED_PLATFORMS } from './technologies/hosted-platforms.ts';
import { INSTALLED_PLATFORMS } from './technologies/installed-platforms.ts';
import { MEASUREMENT } from './technologies/measurement.ts';
import { MERCHANDISING } from './technologies/merchandising.ts';
import { MESSAGING } from './technologies/messaging.ts';
import { PROTECTION } from './technologies/protection.ts';
import { SUPPORT } from './technologies/support.ts';
import { THEMES } from './technologies/themes.ts';

const ENTRIES = [
  ADVERTISING,
  CHECKOUT,
  CUSTOMER_LOYALTY,
  DELIVERY_NETWORK,
  HOSTED_PLATFORMS,
  INSTALLED_PLATFORMS,
  MEASUREMENT,
  MERCHANDISING,
  MESSAGING,
  PROTECTION,
  SUPPORT,
  THEMES,
]
  .flatMap(entriesOf)
  .toSorted((a, b) => (a.technology.slug < b.technology.slug ? -1 : 1));

function entriesOf(byCategory: TechnologiesByCategory) {
  return Object.entries(byCategory).flatMap(([category, entries]: [string, readonly TechnologyEntry[]]) =>
    entries.map(({ slug, name, kind, vendor, website, rules }) => {
      const technology: Technology = { slug, name, kind, category: category as CategorySlug, vendor, website };
      return { technology, rules };
    }),
  );
}

/** All technologies, sorted by slug. */
export const VOCABULARY: readonly Technology[] = ENTRIES.map(({ technology }) => technology);

/** The detection rules of all technologies, by slug. */
export const TECHNOLOGY_RULES: RulesBySlug = Object.fromEntries(ENTRIES.map(({ technology, rules }) => [technology.slug, rules]));

const BY_SLUG: ReadonlyMap<string, Technology> = new Map(VOCABULARY.map((technology) => [technology.slug, technology]));

export function findTechnology(slug: string): Technology | undefined {
  return BY_SLUG.get(slug);
}
