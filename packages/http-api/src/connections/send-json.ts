import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newCorrelationId } from '../correlation-id.ts';
import { rejectionBody, type Rejection } from '../rejection.ts';

/** Sends a JSON response; its head must not have been sent. `headers` are names and values in turn, the correlation id among them. */
export function sendJson(response: ServerResponse, status: number, body: object, headers: readonly string[]): void {
  response.end(writeHead(response, status, body, headers));
}

/** The same for the last response on its connection. Returns a function that closes it: the client has received all of the response
 *  before, and may still be sending. */
export function sendJsonAndClose(response: ServerResponse, status: number, body: object, headers: readonly string[]): () => void {
  response.write(writeHead(response, status, body, [...headers, 'Connection', 'close']));
  return () => response.end();
}

/** Writes the head of a response and returns its body. */
function writeHead(response: ServerResponse, status: number, body: object, headers: readonly string[]): string {
  const text = JSON.stringify(body);
  // The reason phrase is given, or one that a provider sent and Node rejected would be tried again.
  response.writeHead(status, STATUS_CODES[status] ?? '', [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(text)),
    ...headers,
  ]);
  return text;
}

/** Sends a JSON response where there is only a socket (requests that could not be parsed, and CONNECT), and ends the connection. Returns the
 *  response's correlation id, which it carries in `correlationHeader`; undefined when the socket is not writable. */
export function sendJsonOnSocket(socket: Duplex, rejection: Rejection, correlationHeader: string): string | undefined {
  if (!socket.writable) {
    socket.destroy();
    return undefined;
  }
  const correlationId = newCorrelationId();
  const { status, headers = [] } = rejection;
  const text = JSON.stringify(rejectionBody(rejection));
  const lines = headers.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` +
      `${correlationHeader}: ${correlationId}\r\n${lines}Connection: close\r\n\r\n${text}`,
  );
  return correlationId;
}
