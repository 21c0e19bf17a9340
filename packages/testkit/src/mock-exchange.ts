import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { RecordedRequest } from './recorded-request.ts';

/** One request and its response, with the state of the server for serve-exchange.ts. */
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
  /** Call before the mock itself destroys the connection, so that it does not count as a client that left. */
  readonly endsItself: () => void;
}
