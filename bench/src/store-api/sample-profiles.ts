import { renderProfile } from '@vitrine/stores/profile/render-profile';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { signal, storeState, T0, URLS } from '@vitrine/stores/testing/store-states';

/** The placeholder of the domain in a sample. */
export const DOMAIN = 'domain-of-the-sample.example';
const PROFILE_BYTES = 8_192;
const VARIANTS = 32;

/** Profiles of about 8 KB, as observations render them, that differ in what they have. */
export function sampleProfiles(): string[] {
  return Array.from({ length: VARIANTS }, (_, variant) => sampleProfile(variant));
}

function sampleProfile(variant: number): string {
  const slugs = VOCABULARY.filter(({ kind }) => kind !== 'platform').map(({ slug }) => slug);
  let technologies = 10;
  let text = '';
  while (text.length < PROFILE_BYTES && technologies <= slugs.length) {
    technologies += 1;
    const state = storeState({
      domain: DOMAIN,
      storefront_host: `www.${DOMAIN}`,
      technologies: Array.from({ length: technologies }, (_, n) => ({
        slug: slugs[(n * 7 + variant * 13) % slugs.length] ?? '',
        install_state: n % 9 === 0 ? 'configured' : 'active',
        confidence: (['high', 'medium', 'low'] as const)[n % 3] ?? 'low',
        first_observed_at: T0 - ((n * 7_919 + variant) % 400) * 86_413_337,
        last_confirmed_at: T0 + variant * 61_007 + n,
      })),
    });
    text = renderProfile(
      state,
      [1, 2, 3, 4, 5].map((n) => signal(n)),
      URLS,
    ).text;
  }
  return text;
}
