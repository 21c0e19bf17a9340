import { hash } from 'node:crypto';
import type { BodyFacts } from './body-facts.ts';
import type { CapturePolicy } from './capture-policy.ts';
import type { CapturedExchange } from './captured-exchange.ts';
import { chargedUsage, type ChargedUsage } from './charged-usage.ts';
import { outcomeOf, statusOf } from './exchange-outcome.ts';
import { readLineage, type LineageClaim } from '@vitrine/traces/lineage-headers';
import { OpenBody } from './open-body.ts';
import type { PriceCatalogue } from './price-catalogue.ts';
import { policyFor, type PrivacyPolicy } from '@vitrine/privacy/privacy-rules';
import type { PrivacyContext } from '@vitrine/privacy/privacy-context';
import { Redactor } from '@vitrine/privacy/redactor';
import type { Redaction } from '@vitrine/privacy/redaction';
import { Scrubber } from '@vitrine/privacy/redaction';
import { LATE_BODY, storedBody, type StoredBody } from './stored-body.ts';
import { traceMetadata } from './trace-metadata.ts';
import type { WholeTraceRecord } from '@vitrine/traces/trace-record';
import type { CostStatus, Outcome, UsageStatus } from '@vitrine/traces/trace';
import { wholeMs } from '@vitrine/traces/whole-ms';

export interface DerivationContext {
  readonly policy: CapturePolicy;
  /** The policy's rules, prepared for use. */
  readonly privacy: PrivacyContext;
  readonly prices: PriceCatalogue;
  /** CPU milliseconds of this thread, so that a busy machine does not cause lost bodies. */
  readonly cpuMs: () => number;
  /** Called when the bodies of an exchange are not stored because of its time. */
  readonly onBodiesOmitted?: (() => void) | undefined;
}

/** Maximum work on one exchange, because all share this thread. Beyond it, bodies are not stored. */
const EXCHANGE_MAX_MS = 50;

const NO_LINEAGE = { claim: {}, ignored: 0 };

/** Makes the record of an exchange: reads usage and model, prices them, redacts what may not be stored.
 *  About 5 µs for an exchange of 1 KB and 2 KB without bodies, on a worker thread. Never throws for what a client or a provider
 *  sent. Spec: G1.2, G4.1 to G4.27, G11.10. */
export function deriveTrace(
  exchange: CapturedExchange,
  context: DerivationContext,
  id: Uint8Array<ArrayBuffer>,
): WholeTraceRecord {
  const { policy, prices } = context;
  const isLate = policy.captureBodies ? deadlineAfter(EXCHANGE_MAX_MS, context.cpuMs) : () => false;
  const { scope, provider, path } = exchange;
  const applied = policyFor(policy.privacy, { ...scope, provider, path });
  const sent = openRedaction(exchange, applied, context);
  const received = openRedaction(exchange, applied, context);
  const streaming = exchange.response.kind === 'sse';
  const request = new OpenBody(exchange.request);
  const response = new OpenBody(exchange.response);
  const requested = request.facts()?.model;
  const facts = responseFacts(response);
  const charged = chargedUsage(exchange, facts, () => isInBackground(request, response));
  const { usage } = charged;
  const model = sent.line(requested ?? facts?.model ?? 'unknown');
  const outcome = outcomeOf(exchange, facts);

  const stored = policy.captureBodies ? storedBodies([request, response], [sent, received], policy, isLate) : [];
  if (stored.some((body) => body?.isLate === true)) context.onBodiesOmitted?.();
  // After the bodies, because the first call loads the price list, which does not count as work on an exchange.
  const price = usage && prices.cost(exchange.provider, model, usage, new Date(exchange.endedAt));
  const lineage = exchange.hasLineage ? readLineage(exchange.requestHeaders, (value) => sent.line(value)) : NO_LINEAGE;

  return {
    id,
    scope: exchange.scope,
    timestamp: exchange.startedAt,
    created_at: exchange.endedAt,
    provider: exchange.provider,
    model,
    request_method: exchange.method,
    request_path: sent.path(exchange.path),
    response_status: statusOf(exchange, outcome),
    outcome,
    input_tokens: usage?.input_tokens ?? 0,
    output_tokens: usage?.output_tokens ?? 0,
    total_tokens: usage?.total_tokens ?? 0,
    usage_status: usageStatus(outcome, facts, streaming),
    latency_ms: wholeMs(exchange.latencyUs),
    time_to_first_token_us: streaming ? exchange.firstByteUs : 0,
    api_key_hash: exchange.credential === '' ? undefined : new Uint8Array(hash('sha256', exchange.credential, 'buffer')),
    estimated_cost_usd: price?.cost_usd ?? 0,
    cost_status: price !== undefined ? 'priced' : costStatus(exchange, outcome, charged),
    lineage: groupedBy(exchange.otelTraceId, lineage.claim),
    request_headers: sent.headers(exchange.requestHeaders),
    response_headers: received.headers(exchange.responseHeaders),
    request_body: stored[0]?.text,
    response_body: stored[1]?.text,
    metadata: traceMetadata({
      exchange,
      streaming,
      credential: exchange.credential,
      usage,
      charged,
      price,
      lineageIgnored: lineage.ignored,
      applied,
      sent,
      received,
      bodies: { request: stored[0], response: stored[1] },
    }),
    background: charged.background,
  };
}

function deadlineAfter(ms: number, cpuMs: () => number): () => boolean {
  const end = cpuMs() + ms;
  return () => cpuMs() >= end;
}

/** The bodies of the request and of the response, or neither when the time was over before the second was ready. */
function storedBodies(
  [request, response]: readonly [OpenBody, OpenBody],
  [sent, received]: readonly [Redaction, Redaction],
  policy: CapturePolicy,
  isLate: () => boolean,
): (StoredBody | undefined)[] {
  const bodies = [storedBody(request, policy, sent, isLate), storedBody(response, policy, received, isLate)];
  return bodies.some((body) => body?.isLate === true) ? bodies.map((body) => body && LATE_BODY) : bodies;
}

/** Without a group header, the group is the client's own OpenTelemetry trace, if any. Spec: G6.5. */
function groupedBy(otelTraceId: string, claim: LineageClaim): LineageClaim {
  if (claim.trace_group_id !== undefined) return { ...claim, group_fallback: false };
  return otelTraceId === '' ? claim : { ...claim, trace_group_id: otelTraceId, group_fallback: true };
}

function openRedaction({ scope }: CapturedExchange, { mode }: PrivacyPolicy, { policy, privacy }: DerivationContext): Redaction {
  if (mode !== 'off') return new Redactor(privacy, scope.workspace_id);
  return new Scrubber(
    policy.captureBodies && privacy.whenOff !== undefined ? new Redactor(privacy.whenOff, scope.workspace_id) : undefined,
  );
}

/** Facts of the response; undefined when it cannot be decoded, or ends before its usage. */
function responseFacts(body: OpenBody): BodyFacts | undefined {
  const facts = body.facts();
  return body.endsEarly && facts?.usage === undefined ? undefined : facts;
}

function usageStatus(outcome: Outcome, facts: BodyFacts | undefined, streaming: boolean): UsageStatus {
  if (facts === undefined) return 'undecodable';
  if (streaming && outcome !== 'completed') return 'partial';
  return facts.usage === undefined ? 'missing' : 'reported';
}

/** Requests without a price: refused by the provider, reading back, and counting tokens. */
function costStatus({ path, sentStatus }: CapturedExchange, outcome: Outcome, { usage, isFree }: ChargedUsage): CostStatus {
  const isRefused = outcome === 'rejected' || (outcome === 'completed' && sentStatus >= 400);
  if (isFree) return 'free';
  return usage === undefined && (isRefused || COUNTS_TOKENS.test(path)) ? 'free' : 'unpriced';
}

/** Anthropic's, and OpenAI's. */
const COUNTS_TOKENS = /\/(?:count_tokens|responses\/input_tokens)(?:\?|$)/;

/** Whether an unfinished response is a background response. In JSON only background responses are unfinished. A stream may lack the field. */
function isInBackground(request: OpenBody, response: OpenBody): boolean {
  return response.captured.kind === 'json' || request.facts()?.background === true;
}
