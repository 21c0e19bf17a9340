import type { BillingUnit, UnitCounts } from '@vitrine/stores/resources/billing';
import type { Scope } from '@vitrine/stores/resources/enumerations';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import type { z } from 'zod';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The contract of one operation, from which document, admission and parsing are derived. */
export interface Operation<Query = unknown, Body = unknown> {
  readonly operationId: string;
  readonly method: Method;
  /** Braces mark parameters: `/v1/stores/{domain}`. */
  readonly path: string;
  /** One sentence. */
  readonly summary: string;
  /** `x-scope`: `none` needs no key, `any` any key. */
  readonly scope: Scope | 'any' | 'none';
  /** `x-billing-unit`: the units that it may consume; none is `free`. */
  readonly units: readonly BillingUnit[];
  /** `x-agent-notes`: guidance for agents that choose operations. */
  readonly agentNotes: string;
  /** Only documented. Handlers respond with 404 to missing objects. */
  readonly params?: z.ZodObject;
  /** Strict: unknown names are refused with an error that names them. The same applies to the body, and to operations without query or body. */
  readonly query?: z.ZodObject & z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Whether it accepts an Idempotency-Key. */
  readonly isIdempotent?: boolean;
  /** Whether it has an ETag and honours If-None-Match. */
  readonly isConditional?: boolean;
  readonly status: 200 | 201 | 202 | 204;
  readonly response?: z.ZodType;
  /** In addition to those of every operation. */
  readonly errors: readonly ErrorCode[];
}

/** Declares an operation, and types its handler by the schemas of query and body. */
export function operation<Query = unknown, Body = unknown>(declared: Operation<Query, Body>): Operation<Query, Body> {
  return declared;
}

export type QueryOf<O> = O extends Operation<infer Query, infer _> ? Query : never;

/** A request as a handler gets it: parsed by the shapes of its operation. */
export interface ApiRequest<Query = unknown, Body = unknown> {
  /** Its `X-Request-Id`. */
  readonly id: string;
  /** Decoded; what was malformed is undefined. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Query;
  readonly body: Body;
  /** Undefined where the operation takes none. */
  readonly idempotencyKey: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Undefined for operations without a key. */
  readonly caller: AuthenticatedKey | undefined;
  /** Call it right before a commit that bills. Throws when the client has left or was told that the request took too long, because nothing may
   *  be billed then. Once it returns, the deadline no longer applies. */
  readonly beforeCommit: () => void;
}

/** A response with a body in JSON, or without one. */
export interface ApiResponse {
  readonly kind: 'response';
  /** 404: of a store, which is kept for replays as a success is. */
  readonly status: 200 | 304 | 404;
  /** In UTF-8 where it is not a text. */
  readonly body: string | Uint8Array | undefined;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
  /** `X-Request-Id` of a replayed response: that of the first one. */
  readonly replayOf?: string;
  /** What the request has consumed. */
  readonly billed?: Partial<UnitCounts> | undefined;
  /** Units of the workspace in this period after the request; undefined when it cost nothing. */
  readonly used?: UnitCounts | undefined;
}

/** An error in the envelope of the specification. */
export interface ApiRejection {
  readonly kind: 'rejection';
  readonly code: ErrorCode;
  /** Names the field or the rule, and may repeat what the client sent. */
  readonly message: string;
  /** Where it is not that of the code. */
  readonly status?: number;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
  readonly reset_at?: string;
  /** Why, for metrics; the code unless given. */
  readonly reason?: string;
  /** What failed, for the log. */
  readonly cause?: unknown;
}

export type ApiResult = ApiResponse | ApiRejection;

export function rejection(code: ErrorCode, message: string, details: Partial<ApiRejection> = {}): ApiRejection {
  return { kind: 'rejection', code, message, ...details };
}

export function respondJson(body: object): ApiResponse {
  return { kind: 'response', status: 200, body: JSON.stringify(body) };
}

/** An operation and what serves it; without a handler it responds with 501. */
export interface ApiRoute {
  readonly operation: Operation;
  readonly handle: ((request: ApiRequest) => ApiResult | Promise<ApiResult>) | undefined;
}
