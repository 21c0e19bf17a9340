import { correlationIdReader } from '@vitrine/http-api/correlation-id';

/** The header that every response carries. Spec: G1.9. */
export const CORRELATION_HEADER = 'X-Svc-Correlation-ID';

/** The id of a request: as the client sent it in this header or in `X-Request-ID` or `X-Correlation-ID`, else a new one. */
export const correlationIdOf = correlationIdReader(CORRELATION_HEADER);
