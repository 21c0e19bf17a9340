import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { RecordedRequest } from './recorded-request.ts';

/** One request and its response, with what serve-exchange.ts needs to know of the server. */
export interface MockExchange {
  /** From 1. */
  readonly number: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: RecordedRequest;
  /** The headers of every response of the provider. */
  readonly headers: OutgoingHttpHeaders;
  readonly chunkDelayMs: number;
  /** Aborts when the connection is gone. */
  readonly signal: AbortSignal;
  /** To be called before the mock itself destroys the connection: then it is not the client that left. */
  readonly endsItself: () => void;
}
