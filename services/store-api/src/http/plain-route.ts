import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RejectionReason } from '../admission/key-gate.ts';
import type { Method } from '../contract/operation.ts';

export type RouteMethod = Method | 'HEAD';

/**
 * A route outside the contract, such as a page, a probe or `/graphql`. Its handler writes the whole response, whose `X-Request-Id` is
 * `requestId`.
 */
export interface PlainRoute {
  readonly methods: readonly RouteMethod[];
  /** As in operations: `/stores/{domain}`. */
  readonly path: string;
  /** The name in metrics, spans and logs, unless `handle` returns another. */
  readonly operationId: string;
  /** Further metric names of the route, counted from 0. */
  readonly counted?: readonly CountedOperation[];
  handle(request: IncomingMessage, response: ServerResponse, exchange: PlainExchange): Promise<PlainOutcome | void>;
}

/** An operation and its possible responses. */
export interface CountedOperation {
  readonly operationId: string;
  readonly outcomes: readonly { readonly status: number; readonly code: string }[];
}

/** The result of a request. Both fields have a fixed vocabulary. */
export interface PlainOutcome {
  readonly operationId: string;
  /** Code of the error; '' for a success. */
  readonly code: string;
  /** Why it was refused, one of `REJECTION_REASONS`. */
  readonly reason?: RejectionReason;
  /** 0: the client left before its response. */
  readonly status?: 0;
}

export interface PlainExchange {
  readonly requestId: string;
  /** Decoded; malformed ones are undefined. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Undecoded, without the question mark. `request.url` has none. */
  readonly search: string;
}
