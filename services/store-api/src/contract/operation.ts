import type { BillingUnit } from '@vitrine/stores/resources/billing';
import type { Scope } from '@vitrine/stores/resources/enumerations';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import type { z } from 'zod';

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
  /**
   * Strict: unknown names are refused with an error that names them. The same applies to the body, and to operations without query or
   * body.
   */
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
