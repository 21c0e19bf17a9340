import type { IncomingHttpHeaders } from 'node:http';
import { correlationIdReader, newCorrelationId } from './correlation-id.ts';

/** The JSON error response to a request that is rejected before it is served. */
export interface Rejection {
  readonly status: number;
  /** `error` of the JSON body. */
  readonly error: string;
  /** The other fields of the body. */
  readonly details?: Readonly<Record<string, string | number | undefined>>;
  /** Alternating names and values. */
  readonly headers?: readonly string[];
  /** The code in the audit event; a rejection without one is not audited. */
  readonly reason?: string;
}

export function rejectionBody({ error, details }: Rejection): object {
  return { error, ...details };
}

/** How a service responds to requests that it rejects before routing, including malformed messages. */
export interface RejectionFormat {
  /** The response header that carries the correlation id. */
  readonly correlationHeader: string;
  /** The id of a request: the client's, or a new one. */
  correlationIdOf(headers: IncomingHttpHeaders): string;
  /** The id of a message that could not be parsed. */
  newCorrelationId(): string;
  /** The JSON body. */
  bodyOf(rejection: Rejection, correlationId: string): object;
}

/** The format of every API of this package: `{ error: "..." }`. */
export function plainRejections(correlationHeader: string): RejectionFormat {
  return { correlationHeader, correlationIdOf: correlationIdReader(correlationHeader), newCorrelationId, bodyOf: rejectionBody };
}
