import type { IncomingMessage } from 'node:http';
import type { AccessLog } from '../observability/access-log.ts';
import type { RequestWatch } from '../observability/request-watch.ts';
import type { WatchRequest } from '../observability/watch-requests.ts';
import type { ClientConnections } from './client-connections.ts';
import type { ClientResponse } from './client-response.ts';
import { createHttpServer, type HttpServer } from './http-server.ts';

/** Handles a request; `watch` is undefined when nobody is told of it. */
type Handle<Result> = (
  request: IncomingMessage,
  response: ClientResponse,
  watch: RequestWatch | undefined,
  connections: ClientConnections,
) => Result;

/** The gateway's HTTP server: the proxy is asked first, everything else goes to the admin API. */
export function createGatewayServer(
  proxy: Handle<boolean>,
  admin: Handle<void>,
  maxConnections: number,
  watchRequest: WatchRequest | undefined,
  /** Told of what is refused before it is a request. */
  access?: Pick<AccessLog, 'refused'>,
): HttpServer {
  const created = createHttpServer(maxConnections, (request, response) => {
    const watch = watchRequest?.(request, response);
    const { connections } = created;
    if (!proxy(request, response, watch, connections)) admin(request, response, watch, connections);
  });
  created.connections.onRefused = access?.refused;
  return created;
}
