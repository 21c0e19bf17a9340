import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import type { UnitCounts } from '@vitrine/stores/resources/billing';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import type { Operation } from './operation.ts';

/** The request passed to a handler, parsed by the schemas of its operation. */
export interface ApiRequest<Query = unknown, Body = unknown> {
  /** Its `X-Request-Id`. */
  readonly id: string;
  /** Decoded; malformed ones are undefined. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Query;
  readonly body: Body;
  /** Undefined if the operation has no body. */
  readonly idempotencyKey: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Undefined for operations without a key. */
  readonly caller: AuthenticatedKey | undefined;
  /**
   * Call this right before committing billed units. Throws when the client has left or got a timeout response, because nothing may be
   * billed then. Afterwards the deadline no longer applies.
   */
  readonly beforeCommit: () => void;
}

/** A response with a body in JSON, or without one. */
export interface ApiResponse {
  readonly kind: 'response';
  /** 404: for a store, kept for replays like a success. */
  readonly status: 200 | 304 | 404;
  /** UTF-8 if not a string. */
  readonly body: string | Uint8Array | undefined;
  /** Alternating names and values. */
  readonly headers?: readonly string[];
  /** `X-Request-Id` of a replayed response, equal to that of the first. */
  readonly replayOf?: string;
  /** Units consumed by the request. */
  readonly billed?: Partial<UnitCounts> | undefined;
  /** Units of the workspace in this period after the request; undefined when it cost nothing. */
  readonly used?: UnitCounts | undefined;
}

/** An error in the envelope of the specification. */
export interface ApiRejection {
  readonly kind: 'rejection';
  readonly code: ErrorCode;
  /** Names the field or the rule, and may contain client input. */
  readonly message: string;
  /** Overrides the status of the code. */
  readonly status?: number;
  /** Alternating names and values. */
  readonly headers?: readonly string[];
  readonly reset_at?: string;
  /** The reason for metrics; by default the code. */
  readonly reason?: string;
  /** The cause, for the log. */
  readonly cause?: unknown;
}

export type ApiResult = ApiResponse | ApiRejection;

export function rejection(code: ErrorCode, message: string, details: Partial<ApiRejection> = {}): ApiRejection {
  return { kind: 'rejection', code, message, ...details };
}

export function respondJson(body: object): ApiResponse {
  return { kind: 'response', status: 200, body: JSON.stringify(body) };
}

/** An operation and its handler. Without a handler it responds with 501. */
export interface ApiRoute {
  readonly operation: Operation;
  readonly handle: ((request: ApiRequest) => ApiResult | Promise<ApiResult>) | undefined;
}
