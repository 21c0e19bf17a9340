import { scrub } from '@vitrine/telemetry/scrub';
import type { CapturedExchange } from './captured-exchange.ts';
import type { CapturePolicy } from './derive-trace.ts';
import type { Price } from './price-catalogue.ts';
import type { StoredBody } from './stored-body.ts';
import type { Usage } from './usage.ts';

/** The `metadata` of a trace as JSON text. What is the same for all traces, or stands in
 *  columns, is added when a trace is read.
 *  Spec: gateway decisions, section 1, Metadata keys. */
export function traceMetadata(of: {
  readonly exchange: CapturedExchange;
  readonly streaming: boolean;
  readonly credential: string;
  readonly usage: Usage | undefined;
  readonly price: Price | undefined;
  readonly lineageIgnored: number;
  readonly policy: CapturePolicy;
  readonly headersRedacted: number;
  readonly bodies: { readonly request: StoredBody | undefined; readonly response: StoredBody | undefined };
}): string {
  const { exchange, usage, price, policy, bodies } = of;
  const tokensRedacted = (bodies.request?.redacted ?? 0) + (bodies.response?.redacted ?? 0);
  return JSON.stringify({
    streaming: of.streaming,
    stream_chunks: of.streaming ? exchange.responseChunks : undefined,
    correlation_id: scrub(exchange.correlationId).text,
    api_key_last4: of.credential === '' ? undefined : of.credential.slice(-4),
    cached_input_tokens: usage?.cached_input_tokens,
    cache_write_input_tokens: usage?.cache_write_input_tokens,
    reasoning_tokens: usage?.reasoning_tokens,
    price_source: price?.price_source,
    price_version: price?.price_version,
    lineage_ignored: of.lineageIgnored === 0 ? undefined : of.lineageIgnored,
    request_body_truncated: bodies.request?.truncated === true ? true : undefined,
    request_body_encoding: bodies.request?.encoding,
    response_body_truncated: bodies.response?.truncated === true ? true : undefined,
    response_body_encoding: bodies.response?.encoding,
    redaction_mode: policy.redaction,
    redaction_policy_id: policy.policyId,
    redaction_applied: of.headersRedacted + tokensRedacted > 0,
    redaction_counts: { header: of.headersRedacted, token_like: tokensRedacted },
  });
}
