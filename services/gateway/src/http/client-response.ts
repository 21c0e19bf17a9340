import { ServerResponse } from 'node:http';
import type { Rejection } from '../rejection.ts';

/** Whoever handles a request, and has more to do than to answer when the rest of it turns out to be malformed. */
export interface MalformedRequestHandler {
  onMalformedRequest(rejection: Rejection): void;
}

/** A response that knows who handles its request. */
export class ClientResponse extends ServerResponse {
  handler: MalformedRequestHandler | undefined = undefined;
}
