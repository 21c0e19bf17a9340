import * as shapes from '@vitrine/traces/analytics-shapes';
import type { TraceAnalytics } from '@vitrine/traces/trace-analytics';
import { operation, type AdminRoute } from '../http/admin-route.ts';
import { breakdownQuery, seriesQuery, tracesQuery } from './analytics-query.ts';

const reading = { permission: 'analytics:read', status: 200, errors: [503] } as const;

/** The seven endpoints below `/api/analytics`. Spec: gateway, Endpoints and Analytics query parameters; decisions, section 3. */
export function analyticsRoutes(store: TraceAnalytics): AdminRoute[] {
  return [...seriesRoutes(store), ...rowRoutes(store), ...breakdownRoutes(store)];
}

function seriesRoutes(store: TraceAnalytics): AdminRoute[] {
  return (
    [
      ['usage', 'Sums tokens, over all or as a series.', shapes.usage],
      ['cost', 'Sums estimated cost, over all or as a series.', shapes.cost],
    ] as const
  ).map(([endpoint, summary, response]) => ({
    path: `/api/analytics/${endpoint}`,
    GET: operation({
      ...reading,
      summary,
      query: seriesQuery,
      response,
      handle: ({ query: { group_by: groupBy, ...query }, identity }) =>
        store.answer({ endpoint, ...query, groupBy, tenant: identity }),
    }),
  }));
}

function rowRoutes(store: TraceAnalytics): AdminRoute[] {
  return (
    [
      ['models', 'Compares models.', shapes.modelRows],
      ['keys', 'Compares provider credentials, by their hashes.', shapes.keyRows],
      ['summary', 'Sums everything up.', shapes.summary],
    ] as const
  ).map(([endpoint, summary, response]) => ({
    path: `/api/analytics/${endpoint}`,
    GET: operation({
      ...reading,
      summary,
      query: tracesQuery,
      response,
      handle: ({ query, identity }) => store.answer({ endpoint, ...query, tenant: identity }),
    }),
  }));
}

function breakdownRoutes(store: TraceAnalytics): AdminRoute[] {
  return (
    [
      ['latency', 'Shows how latencies are distributed.', shapes.latencyRows],
      ['errors', 'Shows how many exchanges ended in a status of 400 or above.', shapes.errorRows],
    ] as const
  ).map(([endpoint, summary, response]) => ({
    path: `/api/analytics/${endpoint}`,
    GET: operation({
      ...reading,
      summary,
      query: breakdownQuery,
      response,
      handle: ({ query: { group_by: groupBy, ...query }, identity }) =>
        store.answer({ endpoint, ...query, groupBy, tenant: identity }),
    }),
  }));
}
