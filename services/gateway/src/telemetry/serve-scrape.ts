import type { RawRoute } from '@vitrine/http-api/api-app';
import { drainRequest } from '@vitrine/http-api/connections/drain-request';
import { sendRejection } from '@vitrine/http-api/connections/send-rejection';
import { newCorrelationId } from '@vitrine/http-api/correlation-id';
import { createHttpServer, type HttpServer } from '@vitrine/http-api/server/http-server';
import { listen } from '@vitrine/http-api/server/listen';
import type { Logger } from '@vitrine/telemetry/logger';
import { CORRELATION_HEADER } from './correlation-id.ts';

type Scrape = Pick<RawRoute, 'path' | 'respond'>;

const SERVER = { maxConnections: 64, correlationHeader: CORRELATION_HEADER };

/** Serves the scrape on a port of its own, without authentication; does nothing unless a scrape and such a port are configured. Faults:
 *  `address_unusable`. Spec: G9.9. */
export async function serveScrape(
  scrape: Scrape | undefined,
  { host, port }: { readonly host: string; readonly port: number | undefined },
  logger: Logger,
): Promise<Disposable | undefined> {
  if (scrape === undefined || port === undefined) return undefined;
  const { server, connections } = createScrapeServer(scrape, (error) =>
    logger.error({ err: error, next_step: 'report it with this line: it is a bug' }, 'scrape failed'),
  );
  const portKey = 'observability.otel.prometheus_port (SVC_OBSERVABILITY_OTEL_PROMETHEUS_PORT)';
  const url = await listen(server, { host, port, hostKey: 'server.host (SVC_SERVER_HOST)', portKey });
  logger.info({ url: url + scrape.path }, 'scrape endpoint listening');
  return {
    [Symbol.dispose]: () => {
      server.close();
      connections[Symbol.dispose]();
    },
  };
}

function createScrapeServer(scrape: Scrape, report: (error: unknown) => void): HttpServer {
  return createHttpServer(SERVER, (request, response, rejection) => {
    drainRequest(request);
    const refuse = (status: number, error: string, headers: string[] = []) =>
      sendRejection(response, { status, error, headers }, [CORRELATION_HEADER, newCorrelationId()]);
    if (rejection !== undefined) return refuse(rejection.status, rejection.error, ['Connection', 'close']);
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== scrape.path) return refuse(404, 'not found');
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'method not allowed', ['Allow', 'GET, HEAD']);
    scrape.respond(request, response).catch((error: unknown) => {
      report(error);
      if (response.headersSent) response.destroy();
      else refuse(500, 'internal server error');
    });
  });
}
