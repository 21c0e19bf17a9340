import { BUCKETS } from './time-buckets.ts';
import { BREAKDOWN_GROUPS, SERIES_GROUPS } from './trace-measures.ts';
import { credentialHash } from './field-schemas.ts';
import { z } from 'zod';

// Responses of the analytics endpoints. Spec: G7.5 to G7.14.

const count = z.int().min(0);
const amount = z.number().min(0);
const usd = amount.describe('US dollars, exact to 1e-12; below a millionth it is written with an exponent, as 1.5e-7.');
const moment = z.iso.datetime();

const tokens = { input_tokens: count, output_tokens: count, total_tokens: count };
/** Present in every row of a grouped result, even with an empty name; absent without grouping. */
const group = z.string().optional();
const series = { group_by: z.enum(SERIES_GROUPS).optional(), bucket: z.enum(BUCKETS) };
const breakdown = { group_by: z.enum(BREAKDOWN_GROUPS).optional() };
const place = { bucket_start: moment, group };

export const usageTotals = z
  .strictObject({ total_input_tokens: count, total_output_tokens: count, total_tokens: count })
  .meta({ id: 'UsageTotals', description: 'Total tokens.' });
export const usageSeries = z
  .strictObject({ ...series, items: z.array(z.strictObject({ ...place, ...tokens })) })
  .meta({ id: 'UsageSeries', description: 'Tokens by bucket, and by group when one was requested.' });

export const costTotals = z
  .strictObject({ total_cost_usd: usd })
  .meta({ id: 'CostTotals', description: 'Total estimated cost.' });
export const costSeries = z
  .strictObject({
    ...series,
    items: z.array(z.strictObject({ ...place, total_cost_usd: usd, request_count: count, avg_cost_usd: usd })),
  })
  .meta({ id: 'CostSeries', description: 'Estimated cost by bucket, and by group when one was requested.' });

export const usage = z
  .union([usageTotals, usageSeries])
  .meta({ id: 'Usage', description: 'A series when group_by or bucket was given.' });
export const cost = z
  .union([costTotals, costSeries])
  .meta({ id: 'Cost', description: 'A series when group_by or bucket was given.' });

export const modelRows = z
  .strictObject({
    items: z.array(
      z.strictObject({
        model: z.string(),
        request_count: count,
        avg_latency_ms: amount,
        avg_ttft_ms: amount.describe(
          'Time to the first token, over streams only, of microseconds and not rounded; 0 when there was none.',
        ),
        total_tokens: count,
        total_cost_usd: usd,
      }),
    ),
  })
  .meta({ id: 'ModelRows', description: 'Models, the most used first.' });

export const keyRows = z
  .strictObject({
    items: z.array(
      z.strictObject({
        api_key_hash: credentialHash,
        request_count: count,
        total_tokens: count,
        total_cost_usd: usd,
        last_active_at: moment.optional(),
      }),
    ),
  })
  .meta({ id: 'KeyRows', description: 'Provider credentials by their hashes, the most used first.' });

export const latencyRows = z
  .strictObject({
    ...breakdown,
    items: z.array(
      z.strictObject({
        group,
        request_count: count,
        avg_ms: amount,
        min_ms: amount,
        max_ms: amount,
        p50_ms: amount.describe('By nearest rank, at most 1 % wrong, as are the others.'),
        p95_ms: amount,
        p99_ms: amount,
      }),
    ),
  })
  .meta({ id: 'LatencyRows', description: 'Distribution of latencies, in total or by group.' });

export const errorRows = z
  .strictObject({
    ...breakdown,
    items: z.array(
      z.strictObject({
        group,
        total_requests: count,
        error_count_4xx: count,
        error_count_5xx: count,
        error_rate: amount.max(1).describe('Share of 4xx and 5xx in all requests, 0 to 1.'),
      }),
    ),
  })
  .meta({ id: 'ErrorRows', description: 'Failed exchanges, in total or by group, the most used first.' });

export const summary = z
  .strictObject({
    total_requests: count,
    total_input_tokens: count,
    total_output_tokens: count,
    total_tokens: count,
    total_cost_usd: usd,
    active_keys: count.describe('Provider credentials that were seen.'),
    top_model: z.string().optional().describe('The most used; absent when there is no trace.'),
  })
  .meta({ id: 'AnalyticsSummary', description: 'Totals of the selected traces.' });
