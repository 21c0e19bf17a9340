import type { GatewayConfig } from '../config.ts';
import { ThresholdTable } from './thresholds.ts';

/** What of the configured limits binds nobody, in sentences: whoever set them would otherwise believe in them. */
export function ineffectiveLimits({ auth, limits, plans }: Pick<GatewayConfig, 'auth' | 'limits' | 'plans'>): string[] {
  if (!auth.enabled)
    return new ThresholdTable(limits, plans).hasAny ? ['limits are configured, and bind nobody while auth.enabled is false'] : [];
  // Plans of workspaces come with the rows of workspaces, which the embedded stores do not have.
  return Object.entries(plans)
    .filter(([name, plan]) => new ThresholdTable(limits, { [name]: plan }).hasWorkspacePlans)
    .map(
      ([name]) => `plans.${name}.per_workspace binds nobody: no workspace has a plan yet; limits.per_workspace binds them all`,
    );
}
