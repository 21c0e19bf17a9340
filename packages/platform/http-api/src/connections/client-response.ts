import { ServerResponse } from '../node-http.ts';
import type { Rejection } from '../rejection.ts';

/** A request handler with more to do than to respond when the rest of its request turns out to be malformed. */
export interface MalformedRequestHandler {
  onMalformedRequest(rejection: Rejection): void;
}

/** A response on a connection of a client. */
export class ClientResponse extends ServerResponse {
  /** Handles a request that turns out to be malformed. */
  handler: MalformedRequestHandler | undefined = undefined;
  /** Whether the client waits for `100 Continue` before it sends the request's body. */
  awaitsContinue = false;

  /** Asks a waiting client for the body of its request, which is admitted. */
  sendContinue(): void {
    if (!this.awaitsContinue) return;
    this.awaitsContinue = false;
    // For a request that waits for earlier ones, Node writes the interim response after the head of the final one, where it is read as
    // the body. Without it the client continues (RFC 9110, 10.1.1), and Node then closes the connection after the response.
    if (this.socket !== null) this.writeContinue();
  }
}
