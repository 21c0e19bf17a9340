import { z } from 'zod';
import { count, dateTime, planSlug, scope } from './enumerations.ts';

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

const positive = z.int().positive();

/** Spec: S2.27. */
export const planLimits = z
  .object({
    rpm: positive.describe('Requests per minute for the key.'),
    concurrency: positive.describe('Simultaneous requests for the key.'),
    enrich_batch_max: positive.describe('Domains in an enrich request.'),
    freshness_days: positive.describe('Older observations are returned as stale.'),
    history_days: positive.describe('Lookback of history and signal search.'),
    live_refreshes_per_period: z.int().min(0).describe('Scans that refresh may queue in a billing period.'),
  })
  .meta({ id: 'PlanLimits' });

/** Spec: S2.26, S6.25. */
export const account = z
  .object({
    workspace: z.object({ id: z.string(), name: z.string() }),
    key: z.object({
      id: z.string(),
      label: z.string(),
      prefix: z.string().describe('Tag and first four characters of the secret; safe to log.'),
      environment: z.enum(['live', 'test']),
      scopes: z.array(scope),
      expires_at: dateTime.nullable(),
    }),
    plan: z.object({ slug: planSlug, limits: planLimits }),
    period,
  })
  .meta({ id: 'Account' });
export type Account = z.infer<typeof account>;
