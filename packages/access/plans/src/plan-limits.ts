import { z } from 'zod';

/** One scope's thresholds; 0 disables one. Spec: G10.1, G10.2. */
const scopeLimits = z
  .strictObject({
    requests_per_minute: z.int().min(0).max(1_000_000_000).default(0).describe('Requests in any 60 seconds; 0 is no limit.'),
    max_tokens_per_day: z.int().min(0).default(0).describe('Tokens on a UTC day; 0 is no limit.'),
    max_cost_usd_per_day: z.number().min(0).max(1_000_000_000).default(0).describe('US dollars on a UTC day; 0 is no limit.'),
  })
  .prefault({});
export type ScopeLimits = z.infer<typeof scopeLimits>;

/** The thresholds of the gateway, under the same names in its configuration and in a plan. */
export const gatewayScopes = {
  per_key: scopeLimits.describe('Thresholds of each key that has the plan.'),
  per_workspace: scopeLimits.describe('Thresholds of each workspace that has the plan.'),
};

export const gatewayLimits = z.strictObject(gatewayScopes);
export type GatewayLimits = z.infer<typeof gatewayLimits>;

const INT32_MAX = 2_147_483_647;
/** The maximum of the store API's contract. */
const ENRICH_BATCH_MAX = 100;
const RPM_MAX = 1_000_000;
const CONCURRENCY_MAX = 10_000;
const DAYS_MAX = 3_650;

const units = (unit: string) => z.int().min(0).max(INT32_MAX).default(0).describe(`Units of ${unit} in a billing period.`);

/** The name of a plan, its row and its PlanLimits resource. */
export const planName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
    'must be up to 64 letters, digits, dots, dashes or underscores, a letter or digit first',
  );

/** What a plan allows: the six limits of the store API, its allowances, and the thresholds of the gateway. Unknown keys are errors, because a
 *  misspelt threshold would be ignored. Spec: S2.27, S6.6, S6.7, G8.9, G10.16. */
export const planLimits = z.strictObject({
  rpm: z.int().min(1).max(RPM_MAX).describe('Requests a minute of each key at the store API.'),
  concurrency: z.int().min(1).max(CONCURRENCY_MAX).describe('Requests of each key at the store API that may be in flight.'),
  freshnessDays: z.int().min(1).max(DAYS_MAX).describe('Observations older than so many days are returned as stale.'),
  historyDays: z.int().min(1).max(DAYS_MAX).describe('How many days back history and signals may be read.'),
  enrichBatchMax: z.int().min(1).max(ENRICH_BATCH_MAX).describe('Domains in one enrich call.'),
  liveRefreshesPerPeriod: z
    .int()
    .min(0)
    .max(INT32_MAX)
    .describe('Scans that refresh may queue in a billing period, which is also the included allowance of lookup_live.'),
  included: z
    .strictObject({
      lookup_cached: units('lookup_cached'),
      history_query: units('history_query'),
      refresh_requested: units('refresh_requested'),
    })
    .prefault({})
    .describe('Included allowance of each billing unit in a billing period.'),
  gateway: gatewayLimits
    .optional()
    .describe(
      'Thresholds of the AI traffic gateway, as under limits in its configuration. Without them its configured limits apply to keys and ' +
        'workspaces of the plan; with them a threshold that is not named is no limit.',
    ),
});
export type PlanLimits = z.infer<typeof planLimits>;
