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
