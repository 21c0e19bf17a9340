import type { Logger } from '@vitrine/telemetry/logger';
import type { Scrape } from '@vitrine/telemetry/metrics/scrape-text';
import type { ApiApp, RawRoute } from './api-app.ts';
import { sendRejection } from './connections/send-rejection.ts';
import { drainRequest } from './connections/drain-request.ts';
import { correlationIdReader } from './correlation-id.ts';
import { serveApi } from './server/api-server.ts';

export type ReadScrape = (accept: string | undefined) => Promise<Scrape>;

const MAX_CONNECTIONS = 64;

/** Responds to a GET or a HEAD with the metrics that `read` returns, in the format that the client accepts. */
export function respondWithScrape(read: ReadScrape): RawRoute['respond'] {
  return async ({ method, headers: { accept } }, response) => {
    const { contentType, body } = await read(accept);
    const headers = { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body), Vary: 'Accept' };
    response.writeHead(200, headers).end(method === 'HEAD' ? undefined : body);
  };
}

/** The scrape as a route that needs no key; none when it is off. */
export function publicScrape(read: ReadScrape | undefined, path: string): RawRoute[] {
  return read === undefined ? [] : [{ path, permission: 'public', respond: respondWithScrape(read) }];
}

export interface ScrapeServerOptions {
  readonly host: string;
  /** Undefined: no port of its own. */
  readonly port: number | undefined;
  /** Of the service's variables, such as `SVC_`. */
  readonly prefix: string;
  /** The response header that carries the correlation id. */
  readonly correlationHeader: string;
  readonly logger: Logger;
}

/** Serves the scrape on a port of its own, without authentication; nothing unless a scrape and such a port are configured. Faults:
 *  `address_unusable`. Spec: G9.9. */
export async function serveScrape(
  scrape: Pick<RawRoute, 'path' | 'respond'> | undefined,
  { host, port, prefix, correlationHeader, logger }: ScrapeServerOptions,
): Promise<AsyncDisposable | undefined> {
  if (scrape === undefined || port === undefined) return undefined;
  const hostKey = `server.host (${prefix}SERVER_HOST)`;
  const portKey = `observability.otel.prometheus_port (${prefix}OBSERVABILITY_OTEL_PROMETHEUS_PORT)`;
  const server = { host, port, hostKey, portKey, maxConnections: MAX_CONNECTIONS, correlationHeader, logger };
  const served = await serveApi(scrapeApp(scrape, correlationHeader, logger), server);
  logger.info({ url: served.url + scrape.path }, 'scrape endpoint listening');
  return served;
}

function scrapeApp(scrape: Pick<RawRoute, 'path' | 'respond'>, correlationHeader: string, logger: Logger): ApiApp {
  const correlationIdOf = correlationIdReader(correlationHeader);
  return (request, response) => {
    drainRequest(request);
    const id = correlationIdOf(request.headers);
    const refuse = (status: number, error: string, headers: string[] = []) =>
      sendRejection(response, { status, error, headers }, [correlationHeader, id]);
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== scrape.path) return refuse(404, 'not found');
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'method not allowed', ['Allow', 'GET, HEAD']);
    response.setHeader(correlationHeader, id);
    scrape.respond(request, response).catch((err: unknown) => {
      logger.error({ err, next_step: 'report it with this line: it is a bug' }, 'scrape failed');
      if (response.headersSent) response.destroy();
      else refuse(500, 'internal server error');
    });
  };
}
