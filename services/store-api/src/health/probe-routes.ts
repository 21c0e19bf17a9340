import { probeRoutes, type Readiness } from '@vitrine/http-api/probe-routes';
import type { PlainRoute } from '../http/plain-route.ts';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';

/** The probes of every service, as routes of this one. */
export function storeApiProbeRoutes(readiness: Readiness<string>): PlainRoute[] {
  return probeRoutes({ readiness }).map((route) => ({
    methods: ['GET', 'HEAD'],
    path: route.path,
    operationId: route.path.slice(1),
    handle: async (request, response, { requestId }) => {
      response.setHeader(REQUEST_ID_HEADER, requestId);
      await route.respond(request, response);
    },
  }));
}
