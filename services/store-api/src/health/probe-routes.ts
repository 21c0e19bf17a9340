import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PlainRoute } from '../http/plain-route.ts';
import { sendResponse } from '../http/send-response.ts';

const METHODS = ['GET', 'HEAD'] as const;

/** `/livez`: the process serves. `/readyz`: it can serve requests with keys. `waitingFor`: undefined when it can. */
export function probeRoutes(waitingFor: () => string | undefined): PlainRoute[] {
  return [
    {
      methods: METHODS,
      path: '/livez',
      operationId: 'livez',
      handle: async (request, response, { requestId }) => send(request, response, requestId, 200, { status: 'live' }),
    },
    {
      methods: METHODS,
      path: '/readyz',
      operationId: 'readyz',
      handle: async (request, response, { requestId }) => {
        const reason = waitingFor();
        const body = reason === undefined ? { status: 'ready' } : { status: 'not_ready', reason };
        await send(request, response, requestId, reason === undefined ? 200 : 503, body);
      },
    },
  ];
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  status: number,
  body: object,
): Promise<void> {
  const headers = ['X-Request-Id', requestId, 'Cache-Control', 'no-store'];
  return sendResponse(request, response, { status, headers, body: JSON.stringify(body), type: 'application/json' });
}
