import type { CapturedExchange } from './captured-exchange.ts';
import type { ChargedUsage } from './charged-usage.ts';
import type { Cost } from './exchange-cost.ts';
import { addFindings, FINDING_KINDS, hasFindings, noFindings, readFindings, type FindingCounts } from '@vitrine/privacy/findings';
import type { PrivacyPolicy } from '@vitrine/privacy/privacy-rules';
import type { Redaction } from '@vitrine/privacy/redaction';
import type { StoredBody } from './stored-body.ts';
import type { UsageSource } from '@vitrine/traces/trace-values';
import type { Usage } from './usage.ts';

/** For a shorter credential four characters would reveal too much. Spec: G4.14. */
const LAST4_MIN_LENGTH = 16;

/** The `metadata` of a trace as JSON text. Values that are constant or stored in columns are added when a trace is read.
 *  Spec: G4.23 to G4.28. */
export function traceMetadata(of: {
  readonly exchange: CapturedExchange;
  readonly streaming: boolean;
  readonly credential: string;
  readonly usage: Usage | undefined;
  readonly charged?: Pick<ChargedUsage, 'responseId' | 'isReadBack' | 'status'>;
  readonly cost: Cost | undefined;
  /** If it is not the requested one. */
  readonly responseModel: string | undefined;
  readonly serviceTier: unknown;
  readonly lineageIgnored: number;
  readonly applied: PrivacyPolicy;
  /** The redactors of the request and of the response. */
  readonly sent: Redaction;
  readonly received: Redaction;
  readonly bodies: { readonly request: StoredBody | undefined; readonly response: StoredBody | undefined };
}): string {
  const { exchange, usage, charged, cost, applied, bodies } = of;
  const correlationId = of.sent.line(exchange.correlationId);
  const upstreamErrorDetail = of.received.line(exchange.upstreamErrorDetail);
  const own = JSON.stringify({
    streaming: of.streaming,
    stream_chunks: of.streaming ? exchange.responseChunks : undefined,
    chunk_times: exchange.chunkTimes,
    correlation_id: correlationId,
    api_key_last4: of.credential.length < LAST4_MIN_LENGTH ? undefined : of.credential.slice(-4),
    cached_input_tokens: usage?.cached_input_tokens,
    cache_write_input_tokens: usage?.cache_write_input_tokens,
    reasoning_tokens: usage?.reasoning_tokens,
    usage_read_back: charged?.isReadBack === true ? true : undefined,
    background_response_id: charged?.responseId === undefined ? undefined : of.received.line(charged.responseId),
    response_model: of.responseModel,
    service_tier: tierText(of),
    usage_source: sourceOf(of),
    cost_breakdown: cost?.breakdown,
    price_source: cost?.price_source,
    price_version: cost?.price_version,
    lineage_ignored: of.lineageIgnored === 0 ? undefined : of.lineageIgnored,
    request_body_truncated: bodies.request?.truncated === true ? true : undefined,
    request_body_encoding: bodies.request?.encoding,
    response_body_truncated: bodies.response?.truncated === true ? true : undefined,
    response_body_encoding: bodies.response?.encoding,
    redaction_storage_drop: isDropped(bodies.request) || isDropped(bodies.response) ? true : undefined,
    bodies_omitted: bodies.request?.isLate === true || bodies.response?.isLate === true ? 'time_limit' : undefined,
    upstream_error: exchange.upstreamError,
    upstream_error_detail: upstreamErrorDetail === '' ? undefined : upstreamErrorDetail,
    retries: exchange.retries === 0 ? undefined : exchange.retries,
  });
  return `${own.slice(0, -1)},${redactionMembers(applied, redactionCounts(of))}`;
}

/** Arbitrary text of a provider is bounded. */
function tierText({
  serviceTier,
  received,
}: {
  readonly serviceTier: unknown;
  readonly received: Redaction;
}): string | undefined {
  return typeof serviceTier === 'string' ? received.line(serviceTier).slice(0, 64) : undefined;
}

function sourceOf({ usage, charged, streaming }: Parameters<typeof traceMetadata>[0]): UsageSource | undefined {
  if (charged?.status === 'estimated') return 'estimate';
  if (usage === undefined) return undefined;
  return streaming ? 'stream' : 'body';
}

let lastRedaction = { mode: '', policyId: '', counts: noFindings(), members: '' };

/** Most exchanges have the same members as the previous one. Serializing them each time took half as long as all others. */
function redactionMembers({ mode, policyId }: PrivacyPolicy, counts: FindingCounts): string {
  const last = lastRedaction;
  if (mode === last.mode && policyId === last.policyId && FINDING_KINDS.every((kind) => counts[kind] === last.counts[kind]))
    return last.members;
  const members = JSON.stringify({
    redaction_mode: mode,
    redaction_policy_id: policyId,
    redaction_applied: hasFindings(counts),
    redaction_counts: counts,
  }).slice(1);
  lastRedaction = { mode, policyId, counts, members };
  return members;
}

function isDropped(body: StoredBody | undefined): boolean {
  return body !== undefined && body.text === undefined && body.isLate !== true;
}

/** For a request inspected before forwarding, the findings of that inspection count, because the trace may contain less. */
function redactionCounts({ exchange, sent, received }: Parameters<typeof traceMetadata>[0]): FindingCounts {
  const counts = exchange.findings === '' ? sent.counts : readFindings(exchange.findings);
  addFindings(counts, received.counts);
  counts.header += exchange.secretHeaders;
  return counts;
}
