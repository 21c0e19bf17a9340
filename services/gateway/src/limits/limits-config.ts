import { z } from 'zod';

/** One scope's thresholds; 0 disables one. Spec: gateway, Limits. */
const scopeLimits = z
  .strictObject({
    requests_per_minute: z.int().min(0).max(1_000_000_000).default(0),
    max_tokens_per_day: z.int().min(0).default(0),
    max_cost_usd_per_day: z.number().min(0).default(0),
  })
  .prefault({});
export type ScopeLimits = z.infer<typeof scopeLimits>;

const scopes = { per_key: scopeLimits, per_workspace: scopeLimits };

/** `limits`: the thresholds of every key and workspace without a plan. */
export const limitsConfig = z
  .strictObject({
    ...scopes,
    /** Whether request rates and daily quotas hold for each process by itself, or for all processes on one Postgres together. */
    counters: z.enum(['process', 'shared']).default('process'),
  })
  .prefault({});
export type LimitsConfig = z.infer<typeof limitsConfig>;

/** `plans`: thresholds by name. Spec: gateway decisions, sections 2 and 6. */
export const plansConfig = z
  .record(
    z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
        'must be up to 64 letters, digits, dots, dashes or underscores, a letter or digit first',
      ),
    z.strictObject(scopes).prefault({}),
  )
  .default({});
export type PlanConfig = Pick<LimitsConfig, 'per_key' | 'per_workspace'>;

/** The parts of the configuration that usage limits depend on. */
export interface LimitsSettings {
  readonly auth: { readonly enabled: boolean };
  readonly limits: LimitsConfig;
  readonly plans: Readonly<Record<string, PlanConfig>>;
}
