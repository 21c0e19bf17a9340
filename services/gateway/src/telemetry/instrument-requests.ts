import { routeOf } from '@vitrine/traces/trace-measures';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from '@vitrine/traces/trace';
import { RequestTelemetry, type TelemetryContext } from './request-telemetry.ts';

/** Begins the telemetry of a request. */
export type InstrumentRequest = (request: IncomingMessage, response: ServerResponse) => RequestTelemetry;

/** The providers that are proxied, and which of them a request target belongs to. */
export interface ProxiedProviders {
  readonly providers: readonly Provider[];
  readonly providerOf: (target: string) => Provider | undefined;
}

export function instrumentRequests(context: TelemetryContext, { providers, providerOf }: ProxiedProviders): InstrumentRequest {
  for (const provider of providers) context.metrics?.declareProvider(provider, routeOf(provider));
  return (request, response) => new RequestTelemetry(context, routePatternOf(request.url ?? '', providerOf), request, response);
}

/** Spec: G14.34: the values of `route`. */
function routePatternOf(target: string, providerOf: ProxiedProviders['providerOf']): string {
  const provider = providerOf(target);
  if (provider !== undefined) return routeOf(provider);
  return /^\/api(?:[/?]|$)/.test(target) ? '/api/*' : '/other';
}
