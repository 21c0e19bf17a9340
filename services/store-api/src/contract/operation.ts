import type { BillingUnit } from '@vitrine/stores/resources/billing';
import type { Scope } from '@vitrine/stores/resources/enumerations';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What the contract says of one operation: the document, admission and parsing follow from it. */
export interface Operation<Query = unknown, Body = unknown> {
  readonly operationId: string;
  readonly method: Method;
  /** Braces mark parameters: `/v1/stores/{domain}`. */
  readonly path: string;
  /** One sentence. */
  readonly summary: string;
  /** `x-scope`: `none` needs no key, `any` any key. */
  readonly scope: Scope | 'any' | 'none';
  /** `x-billing-unit`: what it may consume; none is `free`. */
  readonly units: readonly BillingUnit[];
  /** `x-agent-notes`: guidance for programs that decide what to call. */
  readonly agentNotes: string;
  /** Documented; handlers respond with 404 to what they do not find. */
  readonly params?: z.ZodObject;
  /** Strict: what it does not have is refused and named. The same holds for the body, and for operations without either. */
  readonly query?: z.ZodObject & z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Whether it takes an Idempotency-Key. */
  readonly isIdempotent?: boolean;
  /** Whether it has an ETag and honours If-None-Match. */
  readonly isConditional?: boolean;
  readonly status: 200 | 201 | 202 | 204;
  readonly response?: z.ZodType;
  /** Beside those of every operation. */
  readonly errors: readonly ErrorCode[];
}

/** Declares an operation, and types its handler by the shapes of query and body. */
export function operation<Query = unknown, Body = unknown>(declared: Operation<Query, Body>): Operation<Query, Body> {
  return declared;
}

export type QueryOf<O> = O extends Operation<infer Query, infer _> ? Query : never;
