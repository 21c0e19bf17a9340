import { hasLivePlans, type LimitsSettings } from './limits-config.ts';
import { ThresholdTable } from './thresholds.ts';

/** Whether a key or workspace can have or get a daily limit, so that usage has to be counted while it is written. */
export function canHaveDailyLimits(config: LimitsSettings): boolean {
  return config.auth.enabled && (hasLivePlans(config) || new ThresholdTable(config.limits, config.plans).hasDaily);
}
