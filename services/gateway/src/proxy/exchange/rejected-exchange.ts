import type { CapturedBody, CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import type { Provider } from '@vitrine/traces/trace';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import { traceIdIn } from '@vitrine/traces/traceparent';
import type { IncomingMessage } from 'node:http';
import type { HeaderReaders } from './forwarded-headers.ts';

const NO_BODY: CapturedBody = { chunks: [], bytes: 0, kind: undefined, coding: '', facts: undefined };

/** The known facts of a rejected request. For a request that could not be parsed: its request line. */
type RejectedRequest = Pick<IncomingMessage, 'rawHeaders' | 'headers' | 'method' | 'url'>;

/** An exchange that the gateway rejected. It has no bodies. Spec: G11.10, G11.11. */
export function rejectedExchange(
  request: RejectedRequest,
  of: { provider: Provider; scope: ExchangeScope; status: number; correlationId: string; now: number; credential: string },
  readers: HeaderReaders,
): CapturedExchange {
  const headers = readers.request(request.rawHeaders, undefined);
  return {
    provider: of.provider,
    scope: of.scope,
    method: request.method ?? '',
    path: request.url ?? '',
    sentStatus: of.status,
    outcome: 'rejected',
    startedAt: of.now,
    endedAt: of.now,
    latencyUs: 0,
    firstByteUs: 0,
    correlationId: of.correlationId,
    otelTraceId: traceIdIn(request.headers['traceparent']),
    requestHeaders: headers.stored,
    responseHeaders: '',
    secretHeaders: headers.secrets,
    hasLineage: headers.hasOwn,
    findings: '',
    upstreamError: undefined,
    upstreamErrorDetail: '',
    retries: 0,
    credential: of.credential,
    request: NO_BODY,
    response: NO_BODY,
    responseChunks: 0,
  };
}
