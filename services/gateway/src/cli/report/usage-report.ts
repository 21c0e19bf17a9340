import {
  keyRowsOf,
  modelRowsOf,
  plainCost,
  sumOfCosts,
  summaryOf,
  unknownIn,
  type PrintCost,
} from '@vitrine/traces/measures-to-response';
import { keyRows, modelRows, summary } from '@vitrine/traces/analytics-shapes';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { Group, Measure, MeasurePart } from '@vitrine/traces/trace-measures';
import { traceSummary, type TraceSummary } from '@vitrine/traces/trace';
import { STORE_DRIVERS, type TraceQuery } from '@vitrine/traces/trace-store';
import { z } from 'zod';
import type { OfflineTraces } from '../offline-traces/open-traces.ts';
import { hasTenantFilter, matchesTenant } from '../offline-traces/tenant-filter.ts';

/** Listed tenants of a report. */
const MAX_NAMED_TENANTS = 20;

const moment = z.iso.datetime();

const providerRow = z.strictObject({
  provider: z.string(),
  input_tokens: z.int().min(0),
  output_tokens: z.int().min(0),
  total_tokens: z.int().min(0),
  total_cost_usd: z.number().min(0),
  total_cost_upper_usd: z.number().min(0),
  unpriced_requests: z.int().min(0),
  estimated_requests: z.int().min(0),
  missing_usage_requests: z.int().min(0),
});

const recentTrace = traceSummary.pick({
  id: true,
  timestamp: true,
  provider: true,
  model: true,
  response_status: true,
  total_tokens: true,
  estimated_cost_usd: true,
  cost_status: true,
  cost_upper_usd: true,
  latency_ms: true,
  request_path: true,
});

/** The JSON of `gateway report --format json`. Its fields are those of the gateway that first had this command, extended by the tenants.
 *  Providers are ordered by tokens, models and keys by requests, traces from the newest. Spec: G18.3. */
export const usageReport = z.strictObject({
  schema_version: z.literal('report.v1'),
  generated_at: moment,
  storage: z.strictObject({ driver: z.enum(STORE_DRIVERS), path: z.string() }),
  filters: z.strictObject({
    provider: z.string().optional(),
    model: z.string().optional(),
    from: moment.optional(),
    to: moment.optional(),
    org_id: z.string().optional(),
    workspace_id: z.string().optional(),
    limit: z.int().min(1).max(200),
  }),
  /** The first of the summed tenants; both fields are '' for unknown callers. */
  tenants: z.array(z.strictObject({ org_id: z.string(), workspace_id: z.string() })),
  tenant_count: z.int().min(0),
  /** All tenants of the store, regardless of the filter. */
  tenants_total: z.int().min(0),
  summary: summary.omit({ previous: true }),
  providers: z.array(providerRow),
  models: modelRows.shape.items,
  api_keys: keyRows.shape.items,
  recent_traces: z.array(recentTrace),
});
export type UsageReport = z.infer<typeof usageReport>;

interface ReportRequest {
  /** `path`: of a file, or the address of a database. */
  readonly storage: UsageReport['storage'];
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** Milliseconds since the epoch, both inclusive. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Filter by tenant; undefined matches any. */
  readonly org_id: string | undefined;
  readonly workspace_id: string | undefined;
  /** 1 to 200 of the newest traces. */
  readonly limit: number;
  readonly now: Date;
  /** Formats sums of money. */
  readonly printCost: PrintCost;
}

/** The measures that the report shows. */
const MEASURED = [
  'tokens',
  'cost',
  'unknown',
  'rejected',
  'latency',
  'firstToken',
  'lastActive',
] as const satisfies readonly MeasurePart[];

const TOKENS = ['inputTokens', 'outputTokens', 'totalTokens'] as const;
const COUNTS = ['requests', 'rejected', 'unpriced', 'estimated', 'missingUsage'] as const;
const SUMMED = [...COUNTS, 'errors4xx', 'errors5xx', ...TOKENS, 'latencyMs', 'streams', 'firstTokenUs'] as const;

/** Sums up the traces of a store, of all tenants or of those that match the filter. Faults: those of the store. */
export async function readReport(
  store: OfflineTraces,
  { storage, limit, now, printCost, org_id, workspace_id, ...range }: ReportRequest,
): Promise<UsageReport> {
  const { provider, model } = range;
  const all = await store.tenants();
  const tenants = all.filter((tenant) => matchesTenant({ org_id, workspace_id }, tenant));
  // Roll-ups store the sums of all tenants together. Sums of selected tenants are added up here.
  const parts = hasTenantFilter({ org_id, workspace_id }) ? tenants : [undefined];
  const measure = async (groupBy: Group): Promise<readonly Measure[]> =>
    mergeMeasures(await Promise.all(parts.map((tenant) => store.measure({ ...range, tenant, groupBy, parts: MEASURED }))));
  const byModel = await measure('model');
  const byCredential = await measure('api_key_hash');
  const byProvider = await measure('provider');
  const byUse = byProvider.toSorted((a, b) => b.totalTokens - a.totalTokens || plainCost(b.cost) - plainCost(a.cost));
  const providers = byUse.map((one) => ({
    provider: one.group,
    input_tokens: one.inputTokens,
    output_tokens: one.outputTokens,
    total_tokens: one.totalTokens,
    total_cost_usd: printCost(one.cost),
    total_cost_upper_usd: printCost(one.upper),
    ...unknownIn(one),
  }));
  return {
    schema_version: 'report.v1',
    generated_at: now.toISOString(),
    storage,
    filters: { provider, model, from: momentOf(range.from), to: momentOf(range.to), org_id, workspace_id, limit },
    tenants: tenants.slice(0, MAX_NAMED_TENANTS),
    tenant_count: tenants.length,
    tenants_total: all.length,
    summary: summaryOf(byModel, byCredential, printCost),
    providers,
    models: modelRowsOf(byModel, printCost).items,
    api_keys: keyRowsOf(byCredential, printCost).items,
    recent_traces: (await newestOf(store, parts, { ...range, limit })).map(recentOf),
  };
}

async function newestOf(
  store: OfflineTraces,
  tenants: readonly (Tenant | undefined)[],
  query: Omit<TraceQuery, 'tenant'>,
): Promise<TraceSummary[]> {
  const pages = await Promise.all(tenants.map((tenant) => store.list({ ...query, tenant })));
  // Trace ids sort by time.
  const newestFirst = pages.flatMap(({ items }) => items).toSorted((left, right) => (left.id < right.id ? 1 : -1));
  return newestFirst.slice(0, query.limit);
}

function momentOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

function recentOf(trace: TraceSummary): UsageReport['recent_traces'][number] {
  return recentTrace.strip().parse(trace);
}

/** Sums measures of several tenants by group. Buckets and percentiles are dropped, because percentiles cannot be summed. */
export function mergeMeasures(parts: readonly (readonly Measure[])[]): readonly Measure[] {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const byGroup = new Map<string, Measure>();
  for (const measure of parts.flat()) {
    const known = byGroup.get(measure.group);
    byGroup.set(measure.group, known === undefined ? measure : sumOf(known, measure));
  }
  return [...byGroup.values()].toSorted((left, right) => (left.group < right.group ? -1 : 1));
}

function sumOf(one: Measure, other: Measure): Measure {
  const summed = SUMMED.map((name) => [name, one[name] + other[name]]);
  return {
    ...one,
    ...(Object.fromEntries(summed) as Pick<Measure, (typeof SUMMED)[number]>),
    bucketStart: 0,
    cost: sumOfCosts([one, other], 'cost'),
    upper: sumOfCosts([one, other], 'upper'),
    latencyMsMin: Math.min(one.latencyMsMin, other.latencyMsMin),
    latencyMsMax: Math.max(one.latencyMsMax, other.latencyMsMax),
    p50Ms: 0,
    p95Ms: 0,
    p99Ms: 0,
    lastActive: Math.max(one.lastActive, other.lastActive),
  };
}
