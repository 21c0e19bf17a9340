import { ServerResponse } from 'node:http';

/** What is answered in JSON to a request that cannot be served as HTTP. */
export interface HttpRejection {
  readonly status: number;
  readonly error: string;
  /** Names and values, one after the other. */
  readonly headers?: readonly string[];
}

/** Whoever handles a request, and has more to do than to answer when the rest of it turns out to be malformed. */
export interface MalformedRequestHandler {
  onMalformedRequest(rejection: HttpRejection): void;
}

/** A response that knows who handles its request. */
export class ClientResponse extends ServerResponse {
  handler: MalformedRequestHandler | undefined = undefined;
}
