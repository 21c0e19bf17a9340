import type { IncomingMessage } from 'node:http';
import type { Rejection } from '../rejection.ts';
import { LINGER_MS, type ClientConnections } from './client-connections.ts';
import type { ClientResponse } from './client-response.ts';
import { drainRequest } from './drain-request.ts';
import { sendRejection, sendRejectionAndClose } from './send-rejection.ts';

interface RejectedRequest {
  readonly request: IncomingMessage;
  readonly response: ClientResponse;
  /** The connections of the server that received it. */
  readonly connections: ClientConnections;
}

/** Responds with a rejection and reads the rest of the request. `isLast`: bytes after the request are not served, and its connection ends. A client
 *  that waits for `100 Continue` may never send the rest, so that its connection ends too. `headers` and `body`: see `sendRejection`. */
export function rejectRequest(
  { request, response, connections }: RejectedRequest,
  rejection: Rejection,
  headers: readonly string[],
  { isLast = false, body }: { readonly isLast?: boolean; readonly body?: object } = {},
): void {
  const { awaitsContinue } = response;
  if (!isLast && !awaitsContinue) {
    drainRequest(request);
    return sendRejection(response, rejection, headers, body);
  }
  connections.stopServing(request.socket);
  const close = sendRejectionAndClose(response, rejection, headers, body);
  drainRequest(request, close, awaitsContinue ? LINGER_MS : undefined);
}
