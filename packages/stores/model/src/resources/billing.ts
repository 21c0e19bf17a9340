import { z } from 'zod';
import { count, dateTime } from './scalars.ts';

/** Spec: S6.10, S6.22. */
export const BILLING_UNITS = ['lookup_cached', 'lookup_live', 'history_query', 'refresh_requested'] as const;
export type BillingUnit = (typeof BILLING_UNITS)[number];

export const unitCounts = z
  .object({ lookup_cached: count, lookup_live: count, history_query: count, refresh_requested: count })
  .meta({ id: 'UnitCounts', description: 'Billing units.' });
export type UnitCounts = z.infer<typeof unitCounts>;

/** Spec: S2.28, S6.19. */
export const period = z
  .object({
    starts_at: dateTime,
    ends_at: dateTime.describe('Counters are reset then.'),
    included: unitCounts,
    /** By all keys of the workspace. */
    used: unitCounts,
  })
  .meta({ id: 'Period' });
export type Period = z.infer<typeof period>;

/** Spec: S2.29. */
export const usage = z
  .object({
    period,
    by_key: z
      .array(z.object({ key_id: z.string(), label: z.string(), used: unitCounts }))
      .describe('Revoked keys that consumed units in this period included.'),
  })
  .meta({ id: 'Usage' });
export type Usage = z.infer<typeof usage>;
