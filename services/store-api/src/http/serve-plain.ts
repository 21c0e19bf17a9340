import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import { errorBody, ERROR_RULES } from '../contract/error-codes.ts';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import { rejectionOfError } from './reject-error.ts';
import type { PlainExchange, PlainOutcome, PlainRoute } from './plain-route.ts';
import type { RequestEvents } from './request-events.ts';
import { sendResponse } from './send-response.ts';

/** Serves a request of a plain route. Responds with 500 if it fails, or with 503 on overload. */
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
  let code = '';
  try {
    outcome = await route.handle(request, response, exchange);
  } catch (thrown) {
    error = thrown;
    code = await sendFailure(request, response, requestId, thrown);
  }
  events.served({
    requestId,
    operationId: outcome?.operationId ?? route.operationId,
    method: request.method ?? '',
    route: route.path,
    headers: request.headers,
    status: outcome?.status ?? response.statusCode,
    code: code === '' ? (outcome?.code ?? '') : code,
    reason: code === 'overloaded' ? code : outcome?.reason,
    startedAt,
    endedAt: performance.now(),
    billed: {},
    error,
  });
}

/** Responds to a failure, or ends the connection if a response has begun but not ended. Returns the code of the error. */
export async function sendFailure(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  error: unknown,
): Promise<ErrorCode> {
  const { code, message, status = ERROR_RULES[code].status, headers = [] } = rejectionOfError(error, false);
  if (response.headersSent) {
    if (!response.writableEnded) response.destroy();
    return code;
  }
  const body = JSON.stringify(errorBody(code, message, requestId));
  const all = [REQUEST_ID_HEADER, requestId, ...headers];
  await sendResponse(request, response, { status, headers: all, body, type: 'application/json' });
  return code;
}
