import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { STATUS_CODES } from '../node-http.ts';
import { type RejectionFormat, rejectionBody, type Rejection } from '../rejection.ts';

/** Sends a rejection in JSON; the response's head must not have been sent. `headers` precede the rejection's own. They are alternating names and
 *  values and include the correlation id. */
export function sendRejection(
  response: ServerResponse,
  rejection: Rejection,
  headers: readonly string[],
  body: object = rejectionBody(rejection),
): void {
  response.end(writeHead(response, rejection, headers, body));
}

/** The same for the last response on its connection. Returns a function that closes it. By then the client has received the whole response, but
 *  may still be sending. */
export function sendRejectionAndClose(
  response: ServerResponse,
  rejection: Rejection,
  headers: readonly string[],
  body: object = rejectionBody(rejection),
): () => void {
  response.write(writeHead(response, rejection, [...headers, 'Connection', 'close'], body));
  return () => response.end();
}

/** Writes the head of a response and returns its body. */
function writeHead(response: ServerResponse, rejection: Rejection, headers: readonly string[], content: object): string {
  const { status } = rejection;
  // The reason phrase is set explicitly, because otherwise Node would reuse an invalid one of a provider.
  const [body, contentHeaders] = contentOf(content);
  response.writeHead(status, STATUS_CODES[status] ?? '', [...contentHeaders, ...headers, ...(rejection.headers ?? [])]);
  return body;
}

/** Sends a rejection when there is only a socket (requests that could not be parsed, and CONNECT), and ends the connection. Returns the
 *  response's correlation id; undefined when the socket is not writable. */
export function sendRejectionOnSocket(socket: Duplex, rejection: Rejection, format: RejectionFormat): string | undefined {
  if (!socket.writable) {
    socket.destroy();
    return undefined;
  }
  const { status, headers = [] } = rejection;
  const correlationId = format.newCorrelationId();
  const [body, contentHeaders] = contentOf(format.bodyOf(rejection, correlationId));
  const all = [...contentHeaders, format.correlationHeader, correlationId, ...headers, 'Connection', 'close'];
  const lines = all.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${body}`);
  return correlationId;
}

function contentOf(content: object): [body: string, headers: string[]] {
  const body = JSON.stringify(content);
  return [body, ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body))]];
}
