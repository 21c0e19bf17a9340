import { usdJson, usdOf, UsdSum, type UsdParts } from './usd.ts';
import type { z } from 'zod';
import type * as shapes from './analytics-shapes.ts';
import type { Measure } from './trace-measures.ts';

type AnalyticsResponse<Shape extends keyof typeof shapes> = Omit<z.infer<(typeof shapes)[Shape]>, 'previous'>;

export type PrintCost = (cost: UsdParts) => number;
/** A plain number, for tables. */
export const plainCost: PrintCost = ({ thousands, pico }) => usdOf(thousands, pico);

// Responses of the endpoints, built from measures ordered by bucket and group. Undefined fields are not in the JSON. Costs are printed
// with all digits by default (`usdJson`).

export function usageTotalsOf(measures: readonly Measure[]): AnalyticsResponse<'usageTotals'> {
  return {
    total_input_tokens: sumOf(measures, 'inputTokens'),
    total_output_tokens: sumOf(measures, 'outputTokens'),
    total_tokens: sumOf(measures, 'totalTokens'),
    ...unknownOf(measures),
  };
}

/** How many requests are unpriced, estimated or without usage. Spec: G7.19. */
function unknownOf(measures: readonly Measure[]) {
  return {
    unpriced_requests: sumOf(measures, 'unpriced'),
    estimated_requests: sumOf(measures, 'estimated'),
    missing_usage_requests: sumOf(measures, 'missingUsage'),
  };
}

/** The same of one measure. Without sums, because these took a third of the time of a series of 30,000 items. */
export function unknownIn({ unpriced, estimated, missingUsage }: Measure) {
  return { unpriced_requests: unpriced, estimated_requests: estimated, missing_usage_requests: missingUsage };
}

export function costTotalsOf(measures: readonly Measure[], print: PrintCost = usdJson): AnalyticsResponse<'costTotals'> {
  return { ...costsOf(measures, print), ...unknownOf(measures) };
}

function costsOf(measures: readonly Measure[], print: PrintCost) {
  return { total_cost_usd: print(sumOfCosts(measures, 'cost')), total_cost_upper_usd: print(sumOfCosts(measures, 'upper')) };
}

/** The costs of some measures together. */
export function sumOfCosts(measures: readonly Measure[], which: 'cost' | 'upper'): UsdParts {
  const sum = new UsdSum();
  for (const measure of measures) sum.addParts(measure[which].thousands, measure[which].pico);
  return sum;
}

/** The most used first. */
export function modelRowsOf(measures: readonly Measure[], print: PrintCost = usdJson): AnalyticsResponse<'modelRows'> {
  const items = byRequests(measures).map((one) => ({
    model: one.group,
    request_count: one.requests,
    avg_latency_ms: one.latencyMs / one.requests,
    avg_ttft_ms: one.streams === 0 ? 0 : one.firstTokenUs / 1_000 / one.streams,
    total_tokens: one.totalTokens,
    ...costsOf([one], print),
    ...unknownIn(one),
  }));
  return { items };
}

/** The most used first; exchanges without a credential are omitted. */
export function keyRowsOf(measures: readonly Measure[], print: PrintCost = usdJson): AnalyticsResponse<'keyRows'> {
  const items = byRequests(measures.filter(({ group }) => group !== '')).map((one) => ({
    api_key_hash: one.group,
    request_count: one.requests,
    total_tokens: one.totalTokens,
    ...costsOf([one], print),
    ...unknownIn(one),
    last_active_at: new Date(one.lastActive).toISOString(),
  }));
  return { items };
}

export function summaryOf(
  byModel: readonly Measure[],
  byCredential: readonly Measure[],
  print: PrintCost = usdJson,
): AnalyticsResponse<'summary'> {
  // Spec: G7.20.
  const accepted = byModel.map((one) => ({ ...one, requests: one.requests - one.rejected }));
  const top = byRequests(accepted.filter(({ requests }) => requests > 0))[0];
  return {
    total_requests: sumOf(byModel, 'requests'),
    ...usageTotalsOf(byModel),
    ...costTotalsOf(byModel, print),
    active_keys: byCredential.filter(({ group }) => group !== '').length,
    ...(top === undefined ? {} : { top_model: top.group }),
  };
}

/** The most used first. Equal counts stay in the order of their groups. */
export function byRequests(measures: readonly Measure[]): readonly Measure[] {
  return measures.toSorted((left, right) => right.requests - left.requests);
}

type Counted = 'requests' | 'inputTokens' | 'outputTokens' | 'totalTokens' | 'unpriced' | 'estimated' | 'missingUsage';

function sumOf(measures: readonly Measure[], field: Counted): number {
  return measures.reduce((sum, one) => sum + one[field], 0);
}
