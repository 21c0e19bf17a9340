import { drainRequest } from '@vitrine/http-api/connections/drain-request';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A whole response. `headers`: names and values in turn. */
export interface SentResponse {
  readonly status: number;
  readonly headers: readonly string[];
  /** Undefined: none. */
  readonly body: string | Uint8Array | undefined;
  readonly type: string;
}

/** Sends a response with one write, and reads what is left of the request. */
export function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body, type }: SentResponse,
): void {
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (hasBody && !request.readableEnded) drainRequest(request);
  const content = body === undefined ? [] : ['Content-Type', type, 'Content-Length', String(Buffer.byteLength(body))];
  response.writeHead(status, [...content, ...headers]);
  response.end(request.method === 'HEAD' ? undefined : body);
}
