import type { LimitsSettings } from './limits-config.ts';
import { ThresholdTable } from './thresholds.ts';

/** Warnings about configured limits that have no effect, which would otherwise be relied on. */
export function ineffectiveLimits({ auth, limits, plans }: LimitsSettings): string[] {
  if (!auth.enabled) return new ThresholdTable(limits, plans).hasAny ? ['limits have no effect while auth.enabled is false'] : [];
  // Workspaces get plans with their rows, which the embedded stores do not have.
  return Object.entries(plans)
    .filter(([name, plan]) => new ThresholdTable(limits, { [name]: plan }).hasWorkspacePlans)
    .map(
      ([name]) =>
        `plans.${name}.per_workspace has no effect: no workspace has a plan yet; limits.per_workspace applies to all workspaces`,
    );
}
