import type { IncomingMessage, ServerResponse } from 'node:http';

/** A path outside of the contract, such as a page, a probe or `/graphql`. It writes the whole response, whose `X-Request-Id` is `requestId`. */
export interface PlainRoute {
  readonly methods: readonly string[];
  /** As in operations: `/stores/{domain}`. */
  readonly path: string;
  /** Of metrics, spans and logs. */
  readonly operationId: string;
  handle(request: IncomingMessage, response: ServerResponse, exchange: PlainExchange): Promise<void>;
}

export interface PlainExchange {
  readonly requestId: string;
  /** Decoded; what was malformed is undefined. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Undecoded, without the question mark. */
  readonly search: string;
}
