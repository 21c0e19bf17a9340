import { runShutdownStep } from '@vitrine/lifecycle/shutdown-steps';
import { scrub } from '@vitrine/privacy/scrub';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ApiApp } from '../api-app.ts';
import { rejectRequest } from '../connections/reject-request.ts';
import type { ClientConnections } from '../connections/client-connections.ts';
import { unparsedLog } from '../connections/unparsed-log.ts';
import { plainRejections, type Rejection } from '../rejection.ts';
import { createHttpServer, stopServer, type HttpServer, type HttpServerOptions } from './http-server.ts';
import { listen, type ListenAt } from './listen.ts';
import { requestError } from './request-error.ts';

const NEXT_STEP = 'requests were cut, see docs/failure-modes.md#a-shutdown-step-that-fails';

const CROWDED: Rejection = {
  status: 503,
  error: 'too many pipelined requests on this connection',
  headers: ['Retry-After', '1'],
};

export interface ApiServer extends AsyncDisposable {
  readonly url: string;
  readonly connections: ClientConnections;
}

interface ApiServerOptions extends HttpServerOptions, ListenAt {
  readonly logger: Logger;
  /** How long idle connections are kept for their next request when it stops; at most `MAX_IDLE_GRACE_MS`. */
  readonly idleGraceMs?: number;
}

/** Serves only an API until disposal, which finishes the requests in flight within the time limit of a shutdown step and then closes every
 *  connection. Faults: `address_unusable`. */
export async function serveApi(app: ApiApp, options: ApiServerOptions): Promise<ApiServer> {
  const { logger } = options;
  const created = createApiServer(app, options);
  const { server, connections } = created;
  const unparsed = unparsedLog(logger, (path) => scrub(path).text);
  connections.onRefused = (refused) => unparsed.add(refused);
  const url = await listen(server, options);
  return {
    url,
    connections,
    async [Symbol.asyncDispose]() {
      const { idleClosed, closed } = stopServer(created, options.idleGraceMs);
      const steps = [
        ['close idle connections', idleClosed],
        ['finish requests in flight', closed],
      ] as const;
      for (const [name, ended] of steps)
        await runShutdownStep(
          name,
          () => ended,
          ({ error: err, ...step }) => logger.error({ ...step, err, next_step: NEXT_STEP }, 'shutdown step failed'),
        );
      connections[Symbol.dispose]();
      unparsed[Symbol.dispose]();
    },
  };
}

function createApiServer(app: ApiApp, options: HttpServerOptions): HttpServer {
  const { correlationHeader, rejections = plainRejections(options.correlationHeader) } = options;
  const created = createHttpServer(options, (request, response, rejection) => {
    const { connections } = created;
    const error = requestError(request);
    const invalid = error === undefined ? rejection : { status: 400, error };
    const crowded = response.socket === null && connections.isCrowded(request) ? CROWDED : undefined;
    const refused = invalid ?? crowded;
    if (refused === undefined) {
      response.sendContinue();
      return app(request, response);
    }
    const id = rejections.correlationIdOf(request.headers);
    const options = { isLast: invalid !== undefined, body: rejections.bodyOf(refused, id) };
    rejectRequest({ request, response, connections }, refused, [correlationHeader, id], options);
  });
  return created;
}
