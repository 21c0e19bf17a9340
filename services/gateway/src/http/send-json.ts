import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Rejection } from '../rejection.ts';
import { CORRELATION_HEADER, newCorrelationId } from './correlation-id.ts';

/** Answers with JSON on a response whose head has not been sent. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  correlationId: string,
  headers: readonly string[] = [],
): void {
  response.end(writeHead(response, status, body, correlationId, headers));
}

/** The same as the last answer on its connection, which it gives back how to close: the client has all of the answer before, and may
 *  still be sending. */
export function sendJsonAndClose(response: ServerResponse, status: number, body: object, correlationId: string): () => void {
  response.write(writeHead(response, status, body, correlationId, ['Connection', 'close']));
  return () => response.end();
}

/** Writes the head of an answer, and gives back its body. */
function writeHead(
  response: ServerResponse,
  status: number,
  body: object,
  correlationId: string,
  headers: readonly string[],
): string {
  const text = JSON.stringify(body);
  // The reason is given, or one that a provider sent and node refused would be tried again.
  response.writeHead(status, STATUS_CODES[status] ?? '', [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(text)),
    CORRELATION_HEADER,
    correlationId,
    ...headers,
  ]);
  return text;
}

/** Answers with JSON where there is only a socket: requests that could not be parsed, and CONNECT. Ends the connection. Answers the
 *  correlation id; undefined when nothing could be sent any more. */
export function sendJsonOnSocket(socket: Duplex, { status, error, headers = [] }: Rejection): string | undefined {
  if (!socket.writable) {
    socket.destroy();
    return undefined;
  }
  const correlationId = newCorrelationId();
  const text = JSON.stringify({ error });
  const lines = headers.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` +
      `${CORRELATION_HEADER}: ${correlationId}\r\n${lines}Connection: close\r\n\r\n${text}`,
  );
  return correlationId;
}
