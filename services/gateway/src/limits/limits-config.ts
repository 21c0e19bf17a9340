import { gatewayLimits, gatewayScopes, planName, type GatewayLimits } from '@vitrine/plans/plan-limits';
import type { StoreSummary } from '@vitrine/traces/trace-store';
import { z } from 'zod';

/** `limits`: the thresholds of every key and workspace without a plan. */
export const limitsConfig = z
  .strictObject({
    ...gatewayScopes,
    /** Whether daily quotas count estimates of usage and cost that are not known, or whether requests of unknown cost are refused.
     *  Spec: G10.17 to G10.19. */
    unknown: z.enum(['estimate', 'allow', 'refuse']).default('estimate'),
    /** Whether request rates and daily quotas apply to each process separately, or to all processes on one Postgres together. */
    counters: z.enum(['process', 'shared']).default('process'),
    /** The folder where the ConfigMap with `plans.json` is mounted, as a folder: a file that is mounted by subPath never changes. */
    plans_dir: z.string().min(1).optional(),
  })
  .prefault({});
export type LimitsConfig = z.infer<typeof limitsConfig>;

/** `plans`: thresholds by name. Spec: G10.16. */
export const plansConfig = z.record(planName, gatewayLimits.prefault({})).default({});

/** The parts of the configuration that usage limits depend on. */
export interface LimitsSettings {
  readonly auth: { readonly enabled: boolean };
  readonly limits: LimitsConfig;
  readonly plans: Readonly<Record<string, GatewayLimits>>;
  readonly storage: { readonly driver: StoreSummary['driver'] };
}

/** Whether plans can come from rows or a mounted folder too, and change while the gateway runs. */
export function hasLivePlans({ limits, storage }: Pick<LimitsSettings, 'limits' | 'storage'>): boolean {
  return storage.driver === 'postgres' || limits.plans_dir !== undefined;
}
