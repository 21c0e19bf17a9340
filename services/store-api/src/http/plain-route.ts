import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RejectionReason } from '../admission/key-gate.ts';
import type { Method } from '../contract/operation.ts';

export type RouteMethod = Method | 'HEAD';

/** A path outside of the contract, such as a page, a probe or `/graphql`. It writes the whole response, whose `X-Request-Id` is `requestId`. */
export interface PlainRoute {
  readonly methods: readonly RouteMethod[];
  /** As in operations: `/stores/{domain}`. */
  readonly path: string;
  /** Of metrics, spans and logs, unless `handle` says another. */
  readonly operationId: string;
  /** What else it can be counted as, from 0 on. */
  readonly counted?: readonly CountedOperation[];
  handle(request: IncomingMessage, response: ServerResponse, exchange: PlainExchange): Promise<PlainOutcome | void>;
}

/** An operation, and the responses that it can have. */
export interface CountedOperation {
  readonly operationId: string;
  readonly outcomes: readonly { readonly status: number; readonly code: string }[];
}

/** What a request turned out to be; both are of a fixed vocabulary. */
export interface PlainOutcome {
  readonly operationId: string;
  /** Of the error; '' for a success. */
  readonly code: string;
  /** Why it was refused, of `REJECTION_REASONS`. */
  readonly reason?: RejectionReason;
  /** 0: the client left before its response. */
  readonly status?: 0;
}

export interface PlainExchange {
  readonly requestId: string;
  /** Decoded; what was malformed is undefined. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Undecoded, without the question mark. `request.url` has none. */
  readonly search: string;
}
