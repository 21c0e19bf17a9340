import type { DayUsage } from '@vitrine/traces/day-usage';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import { DAY_MS } from '@vitrine/traces/trace-analytics';
import { UsdSum } from '@vitrine/traces/usd';

/** Days and scopes make one number below 2^53. */
const SCOPES_MAX = 2 ** 32;

export interface UsageOfKey {
  readonly day: number;
  readonly scope: number;
  requests: number;
  total_tokens: number;
  readonly cost: UsdSum;
}

/** Collects what traces add to the usage of their keys on the UTC days of their `created_at`. */
export class UsageTally {
  readonly #byKey = new Map<number, UsageOfKey>();
  #last: UsageOfKey | undefined;

  add(scope: number, createdAt: number, totalTokens: number, costUsd: number): void {
    const usage = this.#of(Math.floor(createdAt / DAY_MS), scope);
    usage.requests += 1;
    usage.total_tokens += totalTokens;
    usage.cost.add(costUsd);
  }

  /** Days are counted from the epoch. One entry a day and scope: a key whose role changed meanwhile has two. */
  values(): Iterable<UsageOfKey> {
    return this.#byKey.values();
  }

  #of(day: number, scope: number): UsageOfKey {
    if (this.#last?.scope === scope && this.#last.day === day) return this.#last;
    const key = day * SCOPES_MAX + scope;
    const usage = this.#byKey.get(key) ?? { day, scope, requests: 0, total_tokens: 0, cost: new UsdSum() };
    this.#byKey.set(key, usage);
    this.#last = usage;
    return usage;
  }
}

export function dayUsageOf(usage: UsageOfKey, key: Omit<ExchangeScope, 'role'>): DayUsage {
  const { day, requests, total_tokens, cost } = usage;
  const { org_id, workspace_id, gateway_key_id } = key;
  return { day: dayText(day), org_id, workspace_id, gateway_key_id, requests, total_tokens, cost_usd: cost.usd };
}

let lastDay = { day: 0, text: '1970-01-01' };

/** A day, counted from the epoch, as `YYYY-MM-DD`. A batch with a hundred keys asks a hundred times for the same. */
function dayText(day: number): string {
  if (lastDay.day !== day) lastDay = { day, text: new Date(day * DAY_MS).toISOString().slice(0, 10) };
  return lastDay.text;
}
