import type { IncomingMessage } from 'node:http';
import type { RequestTelemetry } from '../observability/request-telemetry.ts';
import type { InstrumentRequest } from '../observability/instrument-requests.ts';
import type { Rejection } from '../rejection.ts';
import type { ClientConnections } from './client-connections.ts';
import type { ClientResponse } from './client-response.ts';
import { createHttpServer, type HttpServer } from './http-server.ts';

/** Handles a request; `watch` is undefined when nobody is told of it. */
type Handle<Result> = (
  request: IncomingMessage,
  response: ClientResponse,
  telemetry: RequestTelemetry | undefined,
  connections: ClientConnections,
  rejection: Rejection | undefined,
) => Result;

/** The gateway's HTTP server: the proxy is asked first, and takes every request that has a rejection; everything else goes to the admin API. */
export function createGatewayServer(
  proxy: Handle<boolean>,
  admin: Handle<void>,
  maxConnections: number,
  instrumentRequest: InstrumentRequest | undefined,
): HttpServer {
  const created = createHttpServer(maxConnections, (request, response, rejection) => {
    const telemetry = instrumentRequest?.(request, response);
    const { connections } = created;
    if (!proxy(request, response, telemetry, connections, rejection)) admin(request, response, telemetry, connections, rejection);
  });
  return created;
}
