import { probeRoutes, type Readiness } from '@vitrine/http-api/probe-routes';
import type { PlainRoute } from '../http/plain-route.ts';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';

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

/** What every request needs of the tables and of the role's rights; rejects where that is missing, and on a server that takes no writes. */
export async function canServe(pool: PostgresPool): Promise<void> {
  await pool.query('SELECT FROM api_keys, stores, idempotency_keys LIMIT 0');
  // It changes no row, and is refused where none could be changed.
  await pool.query('UPDATE request_leases SET expires_at = expires_at WHERE FALSE');
}
