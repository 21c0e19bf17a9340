import { ServerResponse } from '../node-http.ts';
import type { Rejection } from '../rejection.ts';

/** A request handler that must be notified when the rest of its request is malformed. */
export interface MalformedRequestHandler {
  onMalformedRequest(rejection: Rejection): void;
}

/** A response with a reference to the handler of its request. */
export class ClientResponse extends ServerResponse {
  handler: MalformedRequestHandler | undefined = undefined;
}
