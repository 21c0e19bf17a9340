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

/** Checks the tables and rights that every request needs. Rejects if they are missing, and on a read-only server. */
export async function canServe(pool: PostgresPool): Promise<void> {
  await pool.query('SELECT FROM api_keys, stores, idempotency_keys LIMIT 0');
  // Changes no row, but fails if rows cannot be changed.
  await pool.query('UPDATE request_leases SET expires_at = expires_at WHERE FALSE');
}
