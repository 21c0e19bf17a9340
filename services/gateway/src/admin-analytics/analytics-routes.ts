import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { TraceAnalytics } from '@vitrine/traces/trace-analytics';
import type { z } from 'zod';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import * as answers from './analytics-answers.ts';
import { breakdownQuery, rangeQuery, seriesQuery } from './analytics-query.ts';
import * as shapes from './analytics-shapes.ts';

const reading = { permission: 'analytics:read', status: 200, errors: [503] } as const;

/** The seven endpoints below `/api/analytics`. Spec: gateway, Endpoints and Analytics query parameters; decisions, section 3. */
export function analyticsRoutes(store: TraceAnalytics): AdminRoute[] {
  return [...seriesRoutes(store), ...rowRoutes(store), ...breakdownRoutes(store)];
}

function seriesRoutes(store: TraceAnalytics): AdminRoute[] {
  const read = async ({ group_by: groupBy, bucket, ...range }: z.infer<typeof seriesQuery>, tenant: Tenant | undefined) => {
    const isSeries = groupBy !== undefined || bucket !== undefined;
    const series = isSeries ? { group_by: groupBy, bucket: bucket ?? ('day' as const) } : undefined;
    return { series, measures: await store.measure({ ...range, tenant, groupBy, bucket: series?.bucket }) };
  };
  return [
    {
      path: '/api/analytics/usage',
      GET: operation({
        ...reading,
        summary: 'Sums tokens, over all or as a series.',
        query: seriesQuery,
        answer: shapes.usage,
        handle: async ({ query, identity }) => {
          const { series, measures } = await read(query, identity);
          return series === undefined ? answers.usageTotalsOf(measures) : answers.usageSeriesOf(measures, series);
        },
      }),
    },
    {
      path: '/api/analytics/cost',
      GET: operation({
        ...reading,
        summary: 'Sums estimated cost, over all or as a series.',
        query: seriesQuery,
        answer: shapes.cost,
        handle: async ({ query, identity }) => {
          const { series, measures } = await read(query, identity);
          return series === undefined ? answers.costTotalsOf(measures) : answers.costSeriesOf(measures, series);
        },
      }),
    },
  ];
}

function rowRoutes(store: TraceAnalytics): AdminRoute[] {
  return [
    {
      path: '/api/analytics/models',
      GET: operation({
        ...reading,
        summary: 'Compares models.',
        query: rangeQuery,
        answer: shapes.modelRows,
        handle: async ({ query, identity }) =>
          answers.modelRowsOf(await store.measure({ ...query, tenant: identity, groupBy: 'model' })),
      }),
    },
    {
      path: '/api/analytics/keys',
      GET: operation({
        ...reading,
        summary: 'Compares provider credentials, by their hashes.',
        query: rangeQuery,
        answer: shapes.keyRows,
        handle: async ({ query, identity }) =>
          answers.keyRowsOf(await store.measure({ ...query, tenant: identity, groupBy: 'api_key_hash' })),
      }),
    },
    {
      path: '/api/analytics/summary',
      GET: operation({
        ...reading,
        summary: 'Sums everything up.',
        query: rangeQuery,
        answer: shapes.summary,
        handle: async ({ query, identity }) => {
          const range = { ...query, tenant: identity };
          const byModel = store.measure({ ...range, groupBy: 'model' });
          const byCredential = store.measure({ ...range, groupBy: 'api_key_hash' });
          return answers.summaryOf(...(await Promise.all([byModel, byCredential])));
        },
      }),
    },
  ];
}

function breakdownRoutes(store: TraceAnalytics): AdminRoute[] {
  return [
    {
      path: '/api/analytics/latency',
      GET: operation({
        ...reading,
        summary: 'Shows how latencies are distributed.',
        query: breakdownQuery,
        answer: shapes.latencyRows,
        handle: async ({ query: { group_by: groupBy, ...range }, identity }) =>
          answers.latencyRowsOf(
            await store.measure({ ...range, tenant: identity, groupBy, percentiles: true }),
            groupBy !== undefined,
          ),
      }),
    },
    {
      path: '/api/analytics/errors',
      GET: operation({
        ...reading,
        summary: 'Shows how many exchanges ended in a status of 400 or above.',
        query: breakdownQuery,
        answer: shapes.errorRows,
        handle: async ({ query: { group_by: groupBy, ...range }, identity }) =>
          answers.errorRowsOf(await store.measure({ ...range, tenant: identity, groupBy }), groupBy !== undefined),
      }),
    },
  ];
}
