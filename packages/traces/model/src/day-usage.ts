import type { Tenant } from './exchange-scope.ts';
import { DAY_MS } from './time-buckets.ts';
import type { TraceRecord } from './trace-record.ts';
import { UsdSum } from './usd.ts';

/** A gateway key on a UTC day. */
interface KeyDay extends Tenant {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** '' for traces without a key. */
  readonly gateway_key_id: string;
}

/** Tokens and cost of one key of one workspace on one UTC day, by the `created_at` of its traces.
 *  Spec: G10.5. */
export interface DayUsage extends KeyDay {
  readonly requests: number;
  /** With estimates of unknown usage. */
  readonly total_tokens: number;
  /** Their part that was not reported. */
  readonly estimated_tokens: number;
  readonly cost_usd: number;
  readonly cost_upper_usd: number;
}

/** The same, mutable for summing. */
export interface UsageSum extends KeyDay {
  requests: number;
  total_tokens: number;
  estimated_tokens: number;
  readonly cost: UsdSum;
  readonly upper: UsdSum;
}

/** The usage of every key. Faults: `trace_store_unavailable`. */
export interface QuotaTotals {
  /** On a UTC day (`YYYY-MM-DD`), by the `created_at` of the traces; one entry a key, and none for keys without traces. */
  quotaTotals(day: string): Promise<DayUsage[]>;
}

/** Daily usage per key of records, ordered by day and key. A key with two roles has one entry per day. */
export function usageSums(records: readonly TraceRecord[]): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const record of records) {
    const { scope, created_at, estimated_cost_usd, cost_upper_usd = estimated_cost_usd } = record;
    const { org_id, workspace_id, gateway_key_id } = scope;
    const name = `${Math.floor(created_at / DAY_MS)}\0${org_id}\0${workspace_id}\0${gateway_key_id}`;
    let sum = sums.get(name);
    if (sum === undefined) {
      const none = { requests: 0, total_tokens: 0, estimated_tokens: 0, cost: new UsdSum(), upper: new UsdSum() };
      sum = { day: dayOf(created_at), org_id, workspace_id, gateway_key_id, ...none };
      sums.set(name, sum);
    }
    sum.requests += 1;
    const tokens = record.upper_tokens ?? record.total_tokens;
    sum.total_tokens += tokens;
    sum.estimated_tokens += tokens - (record.usage_status === 'estimated' ? 0 : record.total_tokens);
    sum.cost.add(estimated_cost_usd);
    sum.upper.add(cost_upper_usd);
  }
  return [...sums].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum);
}

/** Years beyond 9999 have a sign and a zero in ISO 8601, which Postgres does not read. */
function dayOf(ms: number): string {
  return (new Date(ms).toISOString().split('T', 1)[0] ?? '').replace(/^\+0*/, '');
}
