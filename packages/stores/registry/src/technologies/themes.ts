import { theme, type TechnologiesByCategory, type TechnologyEntry } from '../technology.ts';

/** @param schema - `schema_name` of the theme, which is also its name.
 *  @param id - in Shopify's theme store. */
function shopifyTheme(schema: string, vendor: string | null, id: number): TechnologyEntry {
  const handle = schema.toLowerCase();
  const website = `https://themes.shopify.com/themes/${handle}`;
  return theme(`shopify-theme-${handle}`, schema, vendor, website, { theme: { schema, id }, requires: 'shopify' });
}

/** Vendors of third-party themes are their publishers in Shopify's theme store. */
export const THEMES: TechnologiesByCategory = {
  theme: [
    shopifyTheme('Dawn', 'Shopify', 887),
    shopifyTheme('Debut', 'Shopify', 796),
    shopifyTheme('Prestige', 'Maestrooo', 855),
    shopifyTheme('Impulse', 'Archetype Themes', 857),
    shopifyTheme('Focal', 'Maestrooo', 714),
    shopifyTheme('Empire', 'Pixel Union', 838),
    shopifyTheme('Motion', 'Archetype Themes', 847),
    shopifyTheme('Symmetry', 'Clean Canvas', 568),
    shopifyTheme('Pipeline', 'Groupthought', 739),
    shopifyTheme('Testament', null, 623),
    shopifyTheme('Streamline', 'Archetype Themes', 872),
    shopifyTheme('Brooklyn', 'Shopify', 730),
    shopifyTheme('Minimal', 'Shopify', 380),
    shopifyTheme('Narrative', 'Shopify', 829),
    shopifyTheme('Supply', 'Shopify', 679),
    shopifyTheme('Venture', 'Shopify', 775),
  ],
};
