import { BUCKETS } from './time-buckets.ts';
import { BREAKDOWN_GROUPS, SERIES_GROUPS } from './trace-measures.ts';
import { credentialHash } from './field-schemas.ts';
import { z } from 'zod';

// Responses of the analytics endpoints. Spec: G7.5 to G7.14.

const count = z.int().min(0);
const amount = z.number().min(0);
const usd = amount.describe('US dollars, exact to 1e-12; below a millionth it is written with an exponent, as 1.5e-7.');
const moment = z.iso.datetime();

/** In every total and row. */
const unknown = {
  unpriced_requests: count.describe('Requests whose model had no price: their cost is not in the sum.'),
  estimated_requests: count.describe('Requests whose cost is only in part known to be due: the rest is in the upper bound.'),
  missing_usage_requests: count.describe('Requests that may be charged, without usage and without an estimate of it.'),
};
const costs = { total_cost_usd: usd, total_cost_upper_usd: usd.describe('An upper bound, with estimates of what is not known.') };
const tokens = { ...unknown, input_tokens: count, output_tokens: count, total_tokens: count };
/** Present in every row of a grouped result, even with an empty name; absent without grouping. */
const group = z.string().optional();
const series = { group_by: z.enum(SERIES_GROUPS).optional(), bucket: z.enum(BUCKETS) };
const breakdown = {
  group_by: z.enum(BREAKDOWN_GROUPS).optional(),
  bucket: z.enum(BUCKETS).optional().describe('Of a series, which is ordered by bucket, then by group.'),
};
const place = { bucket_start: moment, group };
/** Present in every row of a series. */
const breakdownPlace = { bucket_start: moment.optional(), group };

/** A response, with that of the period before if it was requested. */
function compared<Fields extends z.core.$ZodLooseShape>(fields: Fields) {
  const previous = z.strictObject({ from: moment, to: moment, ...fields }).optional();
  return z.strictObject({ ...fields, previous: previous.describe('Of the period before, with compare=previous.') });
}

export const usageTotals = compared({
  total_input_tokens: count,
  total_output_tokens: count,
  total_tokens: count,
  ...unknown,
}).meta({ id: 'UsageTotals', description: 'Total tokens.' });
export const usageSeries = compared({ ...series, items: z.array(z.strictObject({ ...place, ...tokens })) }).meta({
  id: 'UsageSeries',
  description: 'Tokens by bucket, and by group when one was requested.',
});

export const costTotals = compared({ ...costs, ...unknown }).meta({ id: 'CostTotals', description: 'Total estimated cost.' });
export const costSeries = compared({
  ...series,
  items: z.array(
    z.strictObject({ ...place, ...costs, request_count: count, avg_cost_usd: usd, avg_cost_upper_usd: usd, ...unknown }),
  ),
}).meta({ id: 'CostSeries', description: 'Estimated cost by bucket, and by group when one was requested.' });

export const usage = z
  .union([usageTotals, usageSeries])
  .meta({ id: 'Usage', description: 'A series when group_by or bucket was given.' });
export const cost = z
  .union([costTotals, costSeries])
  .meta({ id: 'Cost', description: 'A series when group_by or bucket was given.' });

export const modelRows = compared({
  items: z.array(
    z.strictObject({
      model: z.string(),
      request_count: count,
      avg_latency_ms: amount,
      avg_ttft_ms: amount.describe(
        'Time to the first token, over streams only, of microseconds and not rounded; 0 when there was none.',
      ),
      total_tokens: count,
      ...costs,
      ...unknown,
    }),
  ),
}).meta({ id: 'ModelRows', description: 'Models, the most used first.' });

export const keyRows = compared({
  items: z.array(
    z.strictObject({
      api_key_hash: credentialHash,
      request_count: count,
      total_tokens: count,
      ...costs,
      ...unknown,
      last_active_at: moment.optional(),
    }),
  ),
}).meta({ id: 'KeyRows', description: 'Provider credentials by their hashes, the most used first.' });

export const latencyRows = compared({
  ...breakdown,
  items: z.array(
    z.strictObject({
      ...breakdownPlace,
      request_count: count,
      avg_ms: amount,
      min_ms: amount,
      max_ms: amount,
      p50_ms: amount.describe('By nearest rank, at most 1 % wrong, as are the others.'),
      p95_ms: amount,
      p99_ms: amount,
      ...unknown,
    }),
  ),
}).meta({ id: 'LatencyRows', description: 'Distribution of latencies, in total, by group or by bucket.' });

export const errorRows = compared({
  ...breakdown,
  items: z.array(
    z.strictObject({
      ...breakdownPlace,
      total_requests: count,
      error_count_4xx: count,
      error_count_5xx: count,
      error_rate: amount.max(1).describe('Share of 4xx and 5xx in all requests, 0 to 1.'),
      ...unknown,
    }),
  ),
}).meta({
  id: 'ErrorRows',
  description: 'Failed exchanges, in total, by group or by bucket. Without a bucket the most used group is first.',
});

export const summary = compared({
  total_requests: count,
  total_input_tokens: count,
  total_output_tokens: count,
  total_tokens: count,
  ...costs,
  ...unknown,
  active_keys: count.describe('Provider credentials that were seen.'),
  top_model: z.string().optional().describe('The most used, without rejected requests; absent when there is none.'),
}).meta({ id: 'AnalyticsSummary', description: 'Totals of the selected traces.' });
