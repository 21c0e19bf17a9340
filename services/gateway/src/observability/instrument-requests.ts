import { routeOf } from '@vitrine/traces/trace-measures';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { routeUnder, type ProviderRoute } from '../routing/request-target.ts';
import { RequestTelemetry, type TelemetryContext } from './request-telemetry.ts';

/** Begins the telemetry of a request. */
export type InstrumentRequest = (request: IncomingMessage, response: ServerResponse) => RequestTelemetry;

export function instrumentRequests(context: TelemetryContext, routes: readonly ProviderRoute[]): InstrumentRequest {
  for (const { provider } of routes) context.metrics?.declareProvider(provider, routeOf(provider));
  return (request, response) => new RequestTelemetry(context, routePatternOf(request.url ?? '', routes), request, response);
}

/** Spec: G14.34: the values of `route`. */
function routePatternOf(target: string, routes: readonly ProviderRoute[]): string {
  const route = routeUnder(target, routes);
  if (route !== undefined) return routeOf(route.provider);
  return /^\/api(?:[/?]|$)/.test(target) ? '/api/*' : '/other';
}
