import type { ClientConnections } from '@vitrine/http-api/connections/client-connections';
import type { ClientResponse } from '@vitrine/http-api/connections/client-response';
import type { Rejection } from '@vitrine/http-api/rejection';
import { createHttpServer, type HttpServer } from '@vitrine/http-api/server/http-server';
import type { IncomingMessage } from 'node:http';
import type { InstrumentRequest, RequestTelemetry } from '../../telemetry/request-telemetry.ts';
import { CORRELATION_HEADER } from '../../telemetry/correlation-id.ts';

/** Handles a request; `telemetry` is undefined when it is off. */
type Handle<Result> = (
  request: IncomingMessage,
  response: ClientResponse,
  telemetry: RequestTelemetry | undefined,
  connections: ClientConnections,
  rejection: Rejection | undefined,
) => Result;

/** The gateway's HTTP server: the proxy runs first and handles every request with a rejection. All other requests go to the admin API. */
export function createGatewayServer(
  proxy: Handle<boolean>,
  admin: Handle<void>,
  maxConnections: number,
  instrumentRequest: InstrumentRequest | undefined,
): HttpServer {
  const options = { maxConnections, correlationHeader: CORRELATION_HEADER };
  const created = createHttpServer(options, (request, response, rejection) => {
    const telemetry = instrumentRequest?.(request, response);
    const { connections } = created;
    if (proxy(request, response, telemetry, connections, rejection)) return;
    response.sendContinue();
    admin(request, response, telemetry, connections, rejection);
  });
  return created;
}
