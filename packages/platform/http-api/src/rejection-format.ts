import type { IncomingHttpHeaders } from 'node:http';
import { correlationIdReader, newCorrelationId } from './correlation-id.ts';
import { rejectionBody, type Rejection } from './rejection.ts';

/** How a service responds to what it rejects before a route is reached: malformed messages among them. */
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
