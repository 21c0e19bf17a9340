import { CHECKOUT } from './technologies/checkout.ts';
import { MARKETING } from './technologies/marketing.ts';
import { MEASUREMENT } from './technologies/measurement.ts';
import { PLATFORMS } from './technologies/platforms.ts';
import { STOREFRONT } from './technologies/storefront.ts';
import { THEMES } from './technologies/themes.ts';
import type { CategorySlug } from './categories.ts';
import type { Technology, TechnologiesByCategory, TechnologyEntry } from './technology.ts';

/** The whole vocabulary by slug, in the order of slugs. */
export const VOCABULARY: readonly Technology[] = [PLATFORMS, THEMES, MARKETING, STOREFRONT, CHECKOUT, MEASUREMENT]
  .flatMap(technologiesOf)
  .toSorted((a, b) => (a.slug < b.slug ? -1 : 1));

function technologiesOf(byCategory: TechnologiesByCategory): Technology[] {
  return Object.entries(byCategory).flatMap(([category, entries]: [string, readonly TechnologyEntry[]]) =>
    entries.map(({ slug, name, kind, vendor, website }) => ({
      slug,
      name,
      kind,
      category: category as CategorySlug,
      vendor,
      website,
    })),
  );
}

const BY_SLUG: ReadonlyMap<string, Technology> = new Map(VOCABULARY.map((technology) => [technology.slug, technology]));

export function findTechnology(slug: string): Technology | undefined {
  return BY_SLUG.get(slug);
}
