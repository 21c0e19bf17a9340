import type { CategorySlug } from './categories.ts';

/** `platform`; `app`: a listing of a platform's marketplace; `service`: a vendor detected outside of one; `theme`. Spec: Resources, TechnologyKind. */
export const TECHNOLOGY_KINDS = ['platform', 'app', 'service', 'theme'] as const;
export type TechnologyKind = (typeof TECHNOLOGY_KINDS)[number];

/** One entry of the vocabulary. Spec: Resources, Technology; `listing_url` depends on the deployment and is added when rendered. */
export interface Technology {
  readonly slug: string;
  readonly name: string;
  /** `app` where the main route of the vendor into stores is a marketplace, whichever way a store took. */
  readonly kind: TechnologyKind;
  readonly category: CategorySlug;
  /** The company under its trade name; null where the technology is a project of many. */
  readonly vendor: string | null;
  readonly website: string | null;
}

export type TechnologyEntry = Omit<Technology, 'category'>;
export type TechnologiesByCategory = Readonly<Partial<Record<CategorySlug, readonly TechnologyEntry[]>>>;

const entryOf =
  (kind: TechnologyKind) =>
  (slug: string, name: string, vendor: string | null, website: string): TechnologyEntry => ({
    slug,
    name,
    kind,
    vendor,
    website,
  });

export const platform = entryOf('platform');
export const app = entryOf('app');
export const service = entryOf('service');
export const theme = entryOf('theme');
