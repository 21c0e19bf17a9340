import { z } from 'zod';
import { period } from './billing.ts';
import { planSlug, scope } from './enumerations.ts';
import { dateTime } from './scalars.ts';

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
