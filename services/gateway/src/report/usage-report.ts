import { keyRowsOf, modelRowsOf, summaryOf } from '@vitrine/traces/analytics-answers';
import { keyRows, modelRows, summary } from '@vitrine/traces/analytics-shapes';
import type { TraceMeasures } from '@vitrine/traces/trace-analytics';
import { traceSummary, type TraceSummary } from '@vitrine/traces/trace';
import type { TraceStore } from '@vitrine/traces/trace-store';
import { z } from 'zod';

const moment = z.iso.datetime();

const providerRow = z.strictObject({
  provider: z.string(),
  input_tokens: z.int().min(0),
  output_tokens: z.int().min(0),
  total_tokens: z.int().min(0),
  total_cost_usd: z.number().min(0),
});

const recentTrace = traceSummary.pick({
  id: true,
  timestamp: true,
  provider: true,
  model: true,
  response_status: true,
  total_tokens: true,
  estimated_cost_usd: true,
  latency_ms: true,
  request_path: true,
});

/** What `gateway report --format json` prints; its fields are those of the gateway that first had this command. Providers are in the
 *  order of tokens, models and keys in that of requests, the newest trace comes first. Spec: gateway decisions, section 7. */
export const usageReport = z.strictObject({
  schema_version: z.literal('report.v1'),
  generated_at: moment,
  storage: z.strictObject({ driver: z.literal('sqlite'), path: z.string() }),
  filters: z.strictObject({
    provider: z.string().optional(),
    model: z.string().optional(),
    from: moment.optional(),
    to: moment.optional(),
    limit: z.int().min(1).max(200),
  }),
  summary,
  providers: z.array(providerRow),
  models: modelRows.shape.items,
  api_keys: keyRows.shape.items,
  recent_traces: z.array(recentTrace),
});
export type UsageReport = z.infer<typeof usageReport>;

export interface ReportRequest {
  readonly path: string;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** Milliseconds since the epoch, both inclusive. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** 1 to 200 of the newest traces. */
  readonly limit: number;
  readonly now: Date;
}

/** Sums up what a store holds. Faults: those of the store. */
export async function readReport(
  store: TraceMeasures & Pick<TraceStore, 'list'>,
  { path, limit, now, ...range }: ReportRequest,
): Promise<UsageReport> {
  const byModel = await store.measure({ ...range, groupBy: 'model' });
  const byCredential = await store.measure({ ...range, groupBy: 'api_key_hash' });
  const byProvider = await store.measure({ ...range, groupBy: 'provider' });
  const providers = byProvider.map((one) => ({
    provider: one.group,
    input_tokens: one.inputTokens,
    output_tokens: one.outputTokens,
    total_tokens: one.totalTokens,
    total_cost_usd: one.costUsd,
  }));
  return {
    schema_version: 'report.v1',
    generated_at: now.toISOString(),
    storage: { driver: 'sqlite', path },
    filters: { ...filtersOf(range), limit },
    summary: summaryOf(byModel, byCredential),
    providers: providers.toSorted((a, b) => b.total_tokens - a.total_tokens || b.total_cost_usd - a.total_cost_usd),
    models: modelRowsOf(byModel).items,
    api_keys: keyRowsOf(byCredential).items,
    recent_traces: (await store.list({ ...range, limit })).items.map(recentOf),
  };
}

function filtersOf({ provider, model, from, to }: Pick<ReportRequest, 'provider' | 'model' | 'from' | 'to'>) {
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  };
}

function recentOf(trace: TraceSummary): UsageReport['recent_traces'][number] {
  const { id, timestamp, provider, model, response_status, total_tokens, estimated_cost_usd, latency_ms, request_path } = trace;
  return { id, timestamp, provider, model, response_status, total_tokens, estimated_cost_usd, latency_ms, request_path };
}
