import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorBody } from '../contract/error-body.ts';
import type { PlainExchange, PlainOutcome, PlainRoute } from './plain-route.ts';
import type { RequestEvents } from './request-events.ts';
import { sendResponse } from './send-response.ts';

/** Serves a request of a plain route, and responds with 500 where that fails. */
export async function servePlain(
  route: PlainRoute,
  request: IncomingMessage,
  response: ServerResponse,
  exchange: PlainExchange & { readonly startedAt: number },
  events: RequestEvents,
): Promise<void> {
  const { requestId, startedAt } = exchange;
  let outcome: PlainOutcome | void = undefined;
  let error: unknown;
  try {
    outcome = await route.handle(request, response, exchange);
  } catch (thrown) {
    error = thrown;
    sendInternalError(request, response, requestId);
  }
  events.served({
    requestId,
    operationId: outcome?.operationId ?? route.operationId,
    method: request.method ?? '',
    route: route.path,
    headers: request.headers,
    status: outcome?.status ?? response.statusCode,
    code: error === undefined ? (outcome?.code ?? '') : 'internal',
    reason: undefined,
    workspaceId: undefined,
    keyId: undefined,
    startedAt,
    admittedAt: undefined,
    endedAt: performance.now(),
    billed: {},
    replayOf: undefined,
    error,
  });
}

/** 500, or the end of the connection where a response has begun and not ended. */
export function sendInternalError(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  if (response.headersSent) {
    if (!response.writableEnded) response.destroy();
    return;
  }
  const body = JSON.stringify(errorBody('internal', 'The service failed; retry once after a few seconds.', requestId));
  sendResponse(request, response, { status: 500, headers: ['X-Request-Id', requestId], body, type: 'application/json' });
}
