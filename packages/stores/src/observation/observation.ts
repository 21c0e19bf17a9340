import { z } from 'zod';
import { catalogCoverage, confidence, installState, observationScope, storeStatus } from '../resources/enumerations.ts';
import { geography, industry, priceRange } from '../resources/store.ts';
import { count } from '../resources/scalars.ts';

/** What a completed scan found; kept in the log as it is. The census of the catalog completes with the scan. */
export const observationFacts = z.strictObject({
  domain: z.string(),
  storefront_host: z.string(),
  name: z.string().nullable(),
  state: storeStatus,
  is_ecommerce: z.boolean(),
  platform: z.strictObject({ slug: z.string(), confidence }).nullable(),
  technologies: z.array(
    z.strictObject({ slug: z.string(), install_state: installState.extract(['active', 'configured']), confidence }),
  ),
  geography,
  industry,
  catalog: z
    .strictObject({
      product_count: count,
      available_count: count.nullable(),
      currency: z.string().length(3).nullable(),
      price_range: priceRange.nullable(),
      coverage: catalogCoverage,
    })
    .nullable(),
  scope: observationScope,
  coverage_note: z.string().nullable(),
});
export type ObservationFacts = z.infer<typeof observationFacts>;

/** A completed scan. Attempts that were blocked or failed are none. Times are milliseconds since the epoch. */
export interface Observation {
  readonly id: string;
  readonly scan_job_id: string | null;
  readonly started_at: number;
  readonly completed_at: number;
  readonly registry_checksum: string;
  readonly facts: ObservationFacts;
  /** What the rules were applied to; undefined where it was not kept. */
  readonly evidence?: unknown;
}
