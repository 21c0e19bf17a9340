import { z } from 'zod';
import { technologyKind } from './enumerations.ts';
import { uri } from './scalars.ts';

export const technologyResource = z
  .object({
    slug: z.string().describe('Canonical identifier, the join key everywhere.'),
    name: z.string(),
    kind: technologyKind,
    category: z.string().describe('Category slug; one for each technology.'),
    vendor: z.string().nullable(),
    website: uri.nullable(),
    listing_url: uri.nullable().describe('Public page.'),
  })
  .meta({ id: 'Technology' });
export type TechnologyResource = z.infer<typeof technologyResource>;

/** Spec: S2.25. */
export const technologyPage = z
  .object({
    data: z.array(technologyResource),
    next_cursor: z.string().nullable().describe('Null on the last page; valid for 24 hours.'),
  })
  .meta({ id: 'TechnologyPage' });
