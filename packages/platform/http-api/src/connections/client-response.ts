import { ServerResponse } from '../node-http.ts';
import type { Rejection } from '../rejection.ts';

/** A request handler with more to do than to respond when the rest of its request turns out to be malformed. */
export interface MalformedRequestHandler {
  onMalformedRequest(rejection: Rejection): void;
}

/** A response with the handler of its request, should that turn out to be malformed. */
export class ClientResponse extends ServerResponse {
  handler: MalformedRequestHandler | undefined = undefined;
}
