import { MARKETING_RULES } from './marketing-rules.ts';
import { MEASUREMENT_RULES } from './measurement-rules.ts';
import { PLATFORM_RULES } from './platform-rules.ts';
import { STOREFRONT_RULES } from './storefront-rules.ts';
import type { RulesBySlug } from './technology-rules.ts';
import { THEME_RULES } from './theme-rules.ts';

/** The rules of all technologies of the vocabulary, by slug. */
export const TECHNOLOGY_RULES: RulesBySlug = {
  ...PLATFORM_RULES,
  ...THEME_RULES,
  ...MARKETING_RULES,
  ...STOREFRONT_RULES,
  ...MEASUREMENT_RULES,
};
