import type { GatewayConfig } from '../../config.ts';
import { planNames, type ReadPlans } from '../../limits/plans/read-plans.ts';
import { resultOf, type Check } from './check.ts';

/** Checks whether the plans of rows and of a mounted folder can be used. */
export function checkPlans({ auth, plans }: Pick<GatewayConfig, 'auth' | 'plans'>, read: readonly ReadPlans[]): Check {
  const names = planNames(plans, read);
  const details = [`plans: ${names.length === 0 ? 'none' : names.toSorted().join(', ')}`, ...read.map(textOf)];
  const found = resultOf('plans', details);
  if (!auth.enabled && names.length > 0) return found('warn', 'plans have no effect, because auth.enabled is false');
  if (read.some(({ error }) => error !== undefined))
    return found(
      'fail',
      'not all plans can be read; a gateway that runs keeps the last valid ones, one that starts has none of these',
    );
  if (read.some(({ source, document }) => source === 'directory' && document === undefined))
    return found('warn', 'the folder of limits.plans_dir has no plans.json');
  return found('pass', read.length === 0 ? 'plans come from the configuration alone' : 'the plans can be read');
}

function textOf({ source, document, error }: ReadPlans): string {
  if (document !== undefined) return `${source}: generation ${document.generation}, ${document.checksum}`;
  return `${source}: ${error ?? 'no plans.json'}`;
}
