import type { Identity } from '@vitrine/gateway-keys/gateway-key';
import { picoIn } from '@vitrine/traces/usd';
import type { GatewayLimits, ScopeLimits } from '@vitrine/plans/plan-limits';
import { NO_PLANS, type AppliedPlans } from './plans/live-plans.ts';
import { hasLivePlans, type LimitsSettings } from './limits-config.ts';

/** The thresholds of one scope. 0 is no limit. */
export interface Thresholds {
  readonly requestsPerMinute: number;
  readonly tokensPerDay: number;
  /** Money in trillionths of a dollar: whole numbers, so that ten times 0.1 is 1. Usage is exact up to 9,007 dollars a day, and beyond that to
   *  a part in 10^15 (`usd.ts`). */
  readonly picoUsdPerDay: number;
}

/** The thresholds that apply to the requests of one identity. */
export interface BoundThresholds {
  readonly key: Thresholds;
  readonly workspace: Thresholds;
}

/** A plan of a key or workspace that no source of plans contains. */
export interface UnknownPlan {
  readonly unknownPlan: string;
}

/** The thresholds by plan, from the configuration and from live plans. */
export class ThresholdTable {
  readonly #defaults: BoundThresholds;
  readonly #plans: Map<string, BoundThresholds>;
  readonly #workspacePlans: ReadonlyMap<string, string>;

  /** A live plan with thresholds replaces the configured one of the same name. A live plan without thresholds keeps the configured plan, or else
   *  the configured limits, because a plan that limits only the store API must not make the gateway unlimited. */
  constructor(limits: GatewayLimits, plans: Readonly<Record<string, GatewayLimits>>, live: AppliedPlans = NO_PLANS) {
    this.#defaults = boundOf(limits);
    this.#plans = new Map(Object.entries(plans).map(([name, plan]) => [name, boundOf(plan)]));
    for (const [name, { gateway }] of Object.entries(live.plans))
      this.#plans.set(name, gateway === undefined ? (this.#plans.get(name) ?? this.#defaults) : boundOf(gateway));
    this.#workspacePlans = new Map(live.workspaces.map((of) => [workspaceName(of), of.plan]));
  }

  /** A key's plan replaces the configured limits of keys, and its workspace's plan those of workspaces, as a whole: thresholds that a plan
   *  does not name are unlimited. Spec: G8.9, G8.10. */
  of(identity: Pick<Identity, 'plan' | 'org_id' | 'workspace_id'>): BoundThresholds | UnknownPlan {
    const { plan } = identity;
    const workspacePlan = this.#workspacePlans.get(workspaceName(identity));
    const key = plan === undefined ? this.#defaults : this.#plans.get(plan);
    if (key === undefined) return { unknownPlan: plan ?? '' };
    const workspace = workspacePlan === undefined ? this.#defaults : this.#plans.get(workspacePlan);
    return workspace === undefined ? { unknownPlan: workspacePlan ?? '' } : { key: key.key, workspace: workspace.workspace };
  }

  /** Whether a key or workspace can have a limit. */
  get hasAny(): boolean {
    return this.#all().some(({ key, workspace }) => isAny(key) || isAny(workspace));
  }

  /** Whether a key or workspace can have a daily limit. */
  get hasDaily(): boolean {
    return this.#all().some(({ key, workspace }) => isDaily(key) || isDaily(workspace));
  }

  /** Whether a workspace's plan can have a limit. */
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

/** Ids contain no line feeds, so no two workspaces share a name. */
function workspaceName({ org_id, workspace_id }: Pick<Identity, 'org_id' | 'workspace_id'>): string {
  return `${org_id}\n${workspace_id}`;
}

function boundOf({ per_key, per_workspace }: GatewayLimits): BoundThresholds {
  return { key: thresholdsOf(per_key), workspace: thresholdsOf(per_workspace) };
}

function thresholdsOf(limits: ScopeLimits): Thresholds {
  const { requests_per_minute, max_tokens_per_day, max_cost_usd_per_day } = limits;
  return {
    requestsPerMinute: requests_per_minute,
    tokensPerDay: max_tokens_per_day,
    // Every amount above 0 is a limit, however small.
    picoUsdPerDay: max_cost_usd_per_day > 0 ? Math.max(1, picoIn(max_cost_usd_per_day, 0)) : 0,
  };
}

/** Whether a key or workspace can have or get a daily limit, so that usage has to be counted while it is written. */
export function canHaveDailyLimits(config: LimitsSettings): boolean {
  return config.auth.enabled && (hasLivePlans(config) || new ThresholdTable(config.limits, config.plans).hasDaily);
}

/** Warnings about configured limits without effect, on which an operator would otherwise rely. */
export function ineffectiveLimits({ auth, limits, plans, storage }: LimitsSettings): string[] {
  const hasAny = limits.unknown === 'refuse' || new ThresholdTable(limits, plans).hasAny;
  if (!auth.enabled) return hasAny ? ['limits have no effect while auth.enabled is false'] : [];
  if (storage.driver === 'postgres') return [];
  return Object.entries(plans)
    .filter(([name, plan]) => new ThresholdTable(limits, { [name]: plan }).hasWorkspacePlans)
    .map(
      ([name]) =>
        `plans.${name}.per_workspace has no effect: workspaces have plans in Postgres alone; limits.per_workspace applies to all of them`,
    );
}
