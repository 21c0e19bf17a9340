import type { Identity } from '@vitrine/gateway-keys/identity';
import { PICO_PER_USD } from '@vitrine/traces/usd';
import type { LimitsConfig, PlanConfig, ScopeLimits } from './limits-config.ts';

/** The thresholds of one scope; 0 is none. */
export interface Thresholds {
  readonly requestsPerMinute: number;
  readonly tokensPerDay: number;
  readonly picoUsdPerDay: number;
}

/** The thresholds that apply to the requests of one identity. */
export interface BoundThresholds {
  readonly key: Thresholds;
  readonly workspace: Thresholds;
}

/** Money in trillionths of a dollar: whole numbers, so that ten times 0.1 is 1. Usage is exact up to 9,007 dollars a day, and beyond that to
 *  a part in 10^15 (`usd.ts`). */
export function picoUsd(usd: number): number {
  const dollars = Math.floor(usd);
  return dollars * PICO_PER_USD + Math.round((usd - dollars) * PICO_PER_USD);
}

/** The configured thresholds by plan. */
export class ThresholdTable {
  readonly #defaults: BoundThresholds;
  readonly #plans: ReadonlyMap<string, BoundThresholds>;

  constructor(limits: LimitsConfig, plans: Readonly<Record<string, PlanConfig>>) {
    this.#defaults = boundOf(limits);
    this.#plans = new Map(Object.entries(plans).map(([name, plan]) => [name, boundOf(plan)]));
  }

  /** A key's plan replaces the configured limits of keys, and its workspace's plan those of workspaces, as a whole: thresholds that a plan
   *  does not name are unlimited. Undefined for a plan that is not configured. Spec: gateway decisions, section 2. */
  of({ plan, workspace_plan: workspacePlan }: Pick<Identity, 'plan' | 'workspace_plan'>): BoundThresholds | undefined {
    const key = plan === undefined ? this.#defaults : this.#plans.get(plan);
    const workspace = workspacePlan === undefined ? this.#defaults : this.#plans.get(workspacePlan);
    return key === undefined || workspace === undefined ? undefined : { key: key.key, workspace: workspace.workspace };
  }

  /** Whether a key or workspace can have a limit, */
  get hasAny(): boolean {
    return this.#all().some(({ key, workspace }) => isAny(key) || isAny(workspace));
  }

  /** a daily one, */
  get hasDaily(): boolean {
    return this.#all().some(({ key, workspace }) => isDaily(key) || isDaily(workspace));
  }

  /** or one of a workspace's plan. */
  get hasWorkspacePlans(): boolean {
    return [...this.#plans.values()].some(({ workspace }) => isAny(workspace));
  }

  #all(): BoundThresholds[] {
    return [this.#defaults, ...this.#plans.values()];
  }
}

function isAny(thresholds: Thresholds): boolean {
  return thresholds.requestsPerMinute > 0 || isDaily(thresholds);
}

export function isDaily({ tokensPerDay, picoUsdPerDay }: Thresholds): boolean {
  return tokensPerDay > 0 || picoUsdPerDay > 0;
}

function boundOf({ per_key, per_workspace }: PlanConfig): BoundThresholds {
  return { key: thresholdsOf(per_key), workspace: thresholdsOf(per_workspace) };
}

function thresholdsOf(limits: ScopeLimits): Thresholds {
  const { requests_per_minute, max_tokens_per_day, max_cost_usd_per_day } = limits;
  return {
    requestsPerMinute: requests_per_minute,
    tokensPerDay: max_tokens_per_day,
    // Every amount above 0 is a limit, however small.
    picoUsdPerDay: max_cost_usd_per_day > 0 ? Math.max(1, picoUsd(max_cost_usd_per_day)) : 0,
  };
}
