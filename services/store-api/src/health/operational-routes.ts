import type { RawRoute } from '@vitrine/http-api/api-app';
import { probeRoutes, type Readiness } from '@vitrine/http-api/probe-routes';
import type { PlainRoute } from '../http/plain-route.ts';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';

/** The probes of every service, and the scrape where it is public, as routes of this one. */
export function operationalRoutes(readiness: Readiness<string>, scrape: RawRoute | undefined): PlainRoute[] {
  const probes = probeRoutes({ readiness }).map((route) => plainRoute(route, route.path.slice(1)));
  return scrape === undefined ? probes : [...probes, plainRoute(scrape, 'metrics')];
}

function plainRoute({ path, respond }: RawRoute, operationId: string): PlainRoute {
  return {
    methods: ['GET', 'HEAD'],
    path,
    operationId,
    handle: async (request, response, { requestId }) => {
      response.setHeader(REQUEST_ID_HEADER, requestId);
      await respond(request, response);
    },
  };
}

/** Checks the tables and rights that every request needs. Rejects if they are missing, and on a read-only server. */
export async function canServe(pool: PostgresPool): Promise<void> {
  await pool.query('SELECT FROM api_keys, stores, idempotency_keys LIMIT 0');
  // Changes no row, but fails if rows cannot be changed.
  await pool.query('UPDATE request_leases SET expires_at = expires_at WHERE FALSE');
}
