import type { DayUsage } from './day-usage.ts';
import type { ExchangeScope } from './exchange-scope.ts';
import { DAY_MS } from './time-buckets.ts';
import { UsdSum } from './usd.ts';

/** `Scope` is the object of a scope, or the number that a store has for it. */
interface ScopeUsage<Scope> {
  /** Counted from the epoch. */
  readonly day: number;
  readonly scope: Scope;
  requests: number;
  total_tokens: number;
  readonly cost: UsdSum;
}

/** Adds up what traces use by the UTC days of their `created_at` and by scope: a key that had two roles has two entries a day. */
export class UsageTally<Scope> {
  readonly #days = new Map<number, Map<Scope, ScopeUsage<Scope>>>();
  #last: ScopeUsage<Scope> | undefined;

  add(scope: Scope, createdAt: number, totalTokens: number, costUsd: number): void {
    const usage = this.#of(Math.floor(createdAt / DAY_MS), scope);
    usage.requests += 1;
    usage.total_tokens += totalTokens;
    usage.cost.add(costUsd);
  }

  *values(): Generator<ScopeUsage<Scope>> {
    for (const scopes of this.#days.values()) yield* scopes.values();
  }

  #of(day: number, scope: Scope): ScopeUsage<Scope> {
    if (this.#last?.scope === scope && this.#last.day === day) return this.#last;
    const scopes = this.#days.get(day) ?? new Map<Scope, ScopeUsage<Scope>>();
    this.#days.set(day, scopes);
    const usage = scopes.get(scope) ?? { day, scope, requests: 0, total_tokens: 0, cost: new UsdSum() };
    scopes.set(scope, usage);
    this.#last = usage;
    return usage;
  }
}

export function dayUsageOf<Scope>(usage: ScopeUsage<Scope>, scope: Omit<ExchangeScope, 'role'>): DayUsage {
  const { day, requests, total_tokens, cost } = usage;
  const { org_id, workspace_id, gateway_key_id } = scope;
  return { day: dayText(day), org_id, workspace_id, gateway_key_id, requests, total_tokens, cost_usd: cost.usd };
}

let lastDay = { day: 0, text: '1970-01-01' };

/** A day, counted from the epoch, as `YYYY-MM-DD`. A batch with a hundred keys needs the same text a hundred times. */
function dayText(day: number): string {
  if (lastDay.day !== day) lastDay = { day, text: new Date(day * DAY_MS).toISOString().slice(0, 10) };
  return lastDay.text;
}
