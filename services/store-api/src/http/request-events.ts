import type { UnitCounts } from '@vitrine/stores/resources/billing';
import type { IncomingHttpHeaders } from 'node:http';

/** A request after its response was written or its client has left. */
export interface ServedRequest {
  readonly requestId: string;
  /** `unknown` for unknown paths. */
  readonly operationId: string;
  readonly method: string;
  readonly route: string;
  readonly headers: IncomingHttpHeaders;
  /** 0: the client left before. */
  readonly status: number;
  /** Code of the error; '' for a success. */
  readonly code: string;
  /** Why a request was not admitted; undefined if it was. */
  readonly reason: string | undefined;
  readonly workspaceId?: string | undefined;
  readonly keyId?: string | undefined;
  /** Times of `performance.now()`. */
  readonly startedAt: number;
  /** Undefined without an admission. */
  readonly admittedAt?: number | undefined;
  readonly endedAt: number;
  readonly billed: Partial<UnitCounts>;
  /** The id of the request whose response was replayed. */
  readonly replayOf?: string | undefined;
  readonly error: unknown;
}

/** Receives the results of requests, for logs, metrics and spans. */
export interface RequestEvents {
  served(request: ServedRequest): void;
  /** A slot could not be freed. It is free after its lease. */
  releaseFailed(error: unknown): void;
  /** A response could not be written, and its connection was closed. */
  responseFailed(error: unknown): void;
}
