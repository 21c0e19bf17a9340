import type { LimitsSettings } from './limits-config.ts';
import { ThresholdTable } from './thresholds.ts';

/** Warnings about configured limits that have no effect, which would otherwise be relied on. */
export function ineffectiveLimits({ auth, limits, plans, storage }: LimitsSettings): string[] {
  if (!auth.enabled) return new ThresholdTable(limits, plans).hasAny ? ['limits have no effect while auth.enabled is false'] : [];
  if (storage.driver === 'postgres') return [];
  return Object.entries(plans)
    .filter(([name, plan]) => new ThresholdTable(limits, { [name]: plan }).hasWorkspacePlans)
    .map(
      ([name]) =>
        `plans.${name}.per_workspace has no effect: workspaces have plans in Postgres alone; limits.per_workspace applies to all of them`,
    );
}
