import type { RulesBySlug, TechnologyRules } from './technology-rules.ts';

const themeOf = (schema: string, id: number): TechnologyRules => ({ theme: { schema, id }, requires: 'shopify' });

/** Ids in Shopify's theme store: store-intel anchors, section 3.2. */
export const THEME_RULES: RulesBySlug = {
  'shopify-theme-dawn': themeOf('Dawn', 887),
  'shopify-theme-debut': themeOf('Debut', 796),
  'shopify-theme-prestige': themeOf('Prestige', 855),
  'shopify-theme-impulse': themeOf('Impulse', 857),
  'shopify-theme-focal': themeOf('Focal', 714),
  'shopify-theme-empire': themeOf('Empire', 838),
  'shopify-theme-motion': themeOf('Motion', 847),
  'shopify-theme-symmetry': themeOf('Symmetry', 568),
  'shopify-theme-pipeline': themeOf('Pipeline', 739),
  'shopify-theme-testament': themeOf('Testament', 623),
  'shopify-theme-streamline': themeOf('Streamline', 872),
  'shopify-theme-brooklyn': themeOf('Brooklyn', 730),
  'shopify-theme-minimal': themeOf('Minimal', 380),
  'shopify-theme-narrative': themeOf('Narrative', 829),
  'shopify-theme-supply': themeOf('Supply', 679),
  'shopify-theme-venture': themeOf('Venture', 775),
};
