import { respondWithScrape } from '@vitrine/http-api/respond-with-scrape';
import { serveApi } from '@vitrine/http-api/server/api-server';
import type { Logger } from '@vitrine/telemetry/logger';
import type { Scrape } from '@vitrine/telemetry/metrics/scrape-text';
import { createApiApp } from '@vitrine/http-api/api-app';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { PlainRoute } from '../http/plain-route.ts';
import { VERSION } from '../version.ts';

type ReadScrape = (accept: string | undefined) => Promise<Scrape>;

const MAX_CONNECTIONS = 64;

/** The scrape as a route of the service itself. */
export function scrapeRoute(read: ReadScrape, path: string): PlainRoute {
  const respond = respondWithScrape(read);
  return { methods: ['GET', 'HEAD'], path, operationId: 'metrics', handle: (request, response) => respond(request, response) };
}

/** Serves the scrape on a separate port, without a key. Faults: `address_unusable`. */
export async function serveScrape(
  read: ReadScrape,
  { host, port, path }: { readonly host: string; readonly port: number; readonly path: string },
  logger: Logger,
): Promise<AsyncDisposable> {
  const description = { title: 'Metrics', version: VERSION, summary: 'Metrics.', correlationHeader: REQUEST_ID_HEADER };
  const rawRoutes = [{ permission: 'public' as const, path, respond: respondWithScrape(read) }];
  const app = createApiApp([], { logger, description, authorize: () => undefined, rawRoutes });
  const portKey = 'observability.otel.prometheus_port (STORE_API_OBSERVABILITY_OTEL_PROMETHEUS_PORT)';
  const keys = { hostKey: 'server.host (STORE_API_SERVER_HOST)', portKey };
  const limits = { maxConnections: MAX_CONNECTIONS, correlationHeader: REQUEST_ID_HEADER };
  const served = await serveApi(app, { host, port, ...keys, ...limits, logger });
  logger.info({ url: served.url + path }, 'scrape endpoint listening');
  return served;
}
