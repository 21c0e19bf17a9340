import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RejectionReason } from '../admission/key-gate.ts';
import type { Method } from '../contract/operation.ts';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import { errorBody, ERROR_RULES } from '../contract/error-codes.ts';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import { rejectionOfError } from './envelope-rejections.ts';
import type { RequestEvents } from './request-events.ts';
import { sendResponse } from './send-response.ts';

export type RouteMethod = Method | 'HEAD';

/** A route outside the contract, such as a page, a probe or `/graphql`. Its handler writes the whole response, whose `X-Request-Id` is
 *  `requestId`. */
export interface PlainRoute {
  readonly methods: readonly RouteMethod[];
  /** As in operations: `/stores/{domain}`. */
  readonly path: string;
  /** The name in metrics, spans and logs, unless `handle` returns another. */
  readonly operationId: string;
  /** Further metric names of the route, counted from 0. */
  readonly counted?: readonly CountedOperation[];
  handle(request: IncomingMessage, response: ServerResponse, exchange: PlainExchange): Promise<PlainOutcome | void>;
}

/** An operation and its possible responses. */
export interface CountedOperation {
  readonly operationId: string;
  readonly outcomes: readonly { readonly status: number; readonly code: string }[];
}

/** The result of a request. Both fields have a fixed vocabulary. */
export interface PlainOutcome {
  readonly operationId: string;
  /** Code of the error; '' for a success. */
  readonly code: string;
  /** Why it was refused, one of `REJECTION_REASONS`. */
  readonly reason?: RejectionReason;
  /** 0: the client left before its response. */
  readonly status?: 0;
}

export interface PlainExchange {
  readonly requestId: string;
  /** Decoded; malformed ones are undefined. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Undecoded, without the question mark. `request.url` has none. */
  readonly search: string;
}

/** Serves a request of a plain route, and responds with 500 where that fails, or with 503 where it was too much. */
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

/** Responds to a failure, or ends the connection where a response has begun and not ended. Returns the code of the error. */
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
