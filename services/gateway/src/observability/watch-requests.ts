import { routeOf } from '@vitrine/traces/trace-analytics';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { routeUnder, type ProviderRoute } from '../proxy/request-target.ts';
import { RequestWatch, type WatchTools } from './request-watch.ts';

/** Begins the watch of a request. */
export type WatchRequest = (request: IncomingMessage, response: ServerResponse) => RequestWatch;

export function watchRequests(tools: WatchTools, routes: readonly ProviderRoute[]): WatchRequest {
  for (const { provider } of routes) tools.metrics?.declareProvider(provider, routeOf(provider));
  return (request, response) => new RequestWatch(tools, routePatternOf(request.url ?? '', routes), request, response);
}

/** Spec: gateway, Metrics: the values of `route`. */
function routePatternOf(target: string, routes: readonly ProviderRoute[]): string {
  const route = routeUnder(target, routes);
  if (route !== undefined) return routeOf(route.provider);
  return /^\/api(?:[/?]|$)/.test(target) ? '/api/*' : '/other';
}
