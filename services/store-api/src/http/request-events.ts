import type { UnitCounts } from '@vitrine/stores/resources/billing';
import type { IncomingHttpHeaders } from 'node:http';

/** A request when its response was handed over, or its client has left. */
export interface ServedRequest {
  readonly requestId: string;
  /** `unknown` for paths that lead nowhere. */
  readonly operationId: string;
  readonly method: string;
  readonly route: string;
  readonly headers: IncomingHttpHeaders;
  /** 0: the client left before. */
  readonly status: number;
  /** Of the error; '' for a success. */
  readonly code: string;
  /** Why a request was not admitted; undefined for one that was. */
  readonly reason: string | undefined;
  readonly workspaceId?: string | undefined;
  readonly keyId?: string | undefined;
  /** Times of `performance.now()`. */
  readonly startedAt: number;
  /** Undefined where there was no admission. */
  readonly admittedAt?: number | undefined;
  readonly endedAt: number;
  readonly billed: Partial<UnitCounts>;
  /** The request whose response was replayed. */
  readonly replayOf?: string | undefined;
  readonly error: unknown;
}

/** What becomes of requests, for logs, metrics and spans. */
export interface RequestEvents {
  served(request: ServedRequest): void;
  /** A slot could not be freed: it is after its lease. */
  releaseFailed(error: unknown): void;
  /** A response could not be written, and its connection was closed. */
  responseFailed(error: unknown): void;
}
