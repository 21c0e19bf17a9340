import * as shapes from '@vitrine/traces/analytics-shapes';
import type { BreakdownQuery, SeriesQuery, TraceAnalytics } from '@vitrine/traces/trace-analytics';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { z } from 'zod';
import { comparePrevious, isComparable, NOT_COMPARABLE, type ComparedQuery } from './compare-previous.ts';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import { BUCKETS } from '@vitrine/traces/time-buckets';
import { BREAKDOWN_GROUPS, SERIES_GROUPS, type MeasureFilters } from '@vitrine/traces/trace-measures';
import { from, oneOf, rangeQuery, text, to, type FilterShapes } from '@vitrine/http-api/requests/query-shapes';

const traces = {
  from: from(),
  to: to(),
  provider: text().describe('Only this provider, such as openai.'),
  model: text().describe('Only this model, by its exact name.'),
} satisfies FilterShapes<MeasureFilters, 'from' | 'to'>;

const compare = oneOf(['previous']).describe('Adds the response for the period before, as long as the one from from to to.');

/** Filters for the traces to include. Spec: G7.1. */
export const tracesQuery = rangeQuery(traces);

const comparedQuery = rangeQuery({ ...traces, compare }).refine(isComparable, NOT_COMPARABLE);

/** Setting either one returns a series. The default bucket is a day. */
const seriesQuery = rangeQuery({
  ...traces,
  group_by: oneOf(SERIES_GROUPS).describe('Divides the series; key is the gateway key.'),
  bucket: oneOf(BUCKETS).describe('Of a series, in UTC, weeks from Monday; day by default.'),
  compare,
} satisfies FilterShapes<Omit<SeriesQuery, 'tenant'>, 'compare'>).refine(isComparable, NOT_COMPARABLE);

const breakdownQuery = rangeQuery({
  ...traces,
  group_by: oneOf(BREAKDOWN_GROUPS).describe('One row each; key is the gateway key.'),
  bucket: oneOf(BUCKETS).describe('Returns a series, in UTC, weeks from Monday.'),
  compare,
} satisfies FilterShapes<Omit<BreakdownQuery, 'tenant'>, 'compare'>).refine(isComparable, NOT_COMPARABLE);

/** The seven endpoints below `/api/analytics`. Spec: G2.8, G7.1 to G7.21. */
export function analyticsRoutes(of: TraceAnalytics): AdminRoute[] {
  return [
    route('usage', 'Sums tokens, in total or as a series.', seriesQuery, shapes.usage, (query) => of.usage(query)),
    route('cost', 'Sums estimated cost, in total or as a series.', seriesQuery, shapes.cost, (query) => of.cost(query)),
    route('models', 'Compares models.', comparedQuery, shapes.modelRows, (query) => of.models(query)),
    route('keys', 'Compares provider credentials, by their hashes.', comparedQuery, shapes.keyRows, (query) => of.keys(query)),
    route('summary', 'Returns the totals of the selected traces.', comparedQuery, shapes.summary, (query) => of.summary(query)),
    route('latency', 'Returns the distribution of latencies.', breakdownQuery, shapes.latencyRows, (query) => of.latency(query)),
    route('errors', 'Counts exchanges with a status of 400 or above.', breakdownQuery, shapes.errorRows, (query) =>
      of.errors(query),
    ),
  ];
}

function route<Query extends ComparedQuery>(
  name: string,
  summary: string,
  query: z.ZodType<Query>,
  response: z.ZodType,
  respond: (query: Omit<Query, 'compare'> & { readonly tenant: Tenant | undefined }) => Promise<object>,
): AdminRoute {
  return {
    path: `/api/analytics/${name}`,
    GET: operation({
      permission: 'analytics:read',
      status: 200,
      errors: [503],
      summary,
      query,
      response,
      handle: ({ query, identity }) => comparePrevious(query, (one) => respond({ ...one, tenant: identity })),
    }),
  };
}
