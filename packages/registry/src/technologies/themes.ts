import { theme, type TechnologiesByCategory } from '../technology.ts';

const STORE = 'https://themes.shopify.com/themes';

/** Slugs are `shopify-theme-` and the theme's `schema_name`. Vendors of themes outside of Shopify's own are their publishers there. */
export const THEMES: TechnologiesByCategory = {
  theme: [
    theme('shopify-theme-dawn', 'Dawn', 'Shopify', `${STORE}/dawn`),
    theme('shopify-theme-debut', 'Debut', 'Shopify', `${STORE}/debut`),
    theme('shopify-theme-prestige', 'Prestige', 'Maestrooo', `${STORE}/prestige`),
    theme('shopify-theme-impulse', 'Impulse', 'Archetype Themes', `${STORE}/impulse`),
    theme('shopify-theme-focal', 'Focal', 'Maestrooo', `${STORE}/focal`),
    theme('shopify-theme-empire', 'Empire', 'Pixel Union', `${STORE}/empire`),
    theme('shopify-theme-motion', 'Motion', 'Archetype Themes', `${STORE}/motion`),
    theme('shopify-theme-symmetry', 'Symmetry', 'Clean Canvas', `${STORE}/symmetry`),
    theme('shopify-theme-pipeline', 'Pipeline', 'Groupthought', `${STORE}/pipeline`),
    theme('shopify-theme-testament', 'Testament', null, `${STORE}/testament`),
    theme('shopify-theme-streamline', 'Streamline', 'Archetype Themes', `${STORE}/streamline`),
    theme('shopify-theme-brooklyn', 'Brooklyn', 'Shopify', `${STORE}/brooklyn`),
    theme('shopify-theme-minimal', 'Minimal', 'Shopify', `${STORE}/minimal`),
    theme('shopify-theme-narrative', 'Narrative', 'Shopify', `${STORE}/narrative`),
    theme('shopify-theme-supply', 'Supply', 'Shopify', `${STORE}/supply`),
    theme('shopify-theme-venture', 'Venture', 'Shopify', `${STORE}/venture`),
  ],
};
