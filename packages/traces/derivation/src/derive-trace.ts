import { batchFileReference } from '@vitrine/traces/background-response';
import { hash } from 'node:crypto';
import { NO_FACTS, type BodyFacts } from './body-facts.ts';
import type { CapturePolicy } from './capture-policy.ts';
import type { CapturedExchange } from './captured-exchange.ts';
import { chargedUsage, type ChargedUsage } from './charged-usage.ts';
import { outcomeOf, statusOf } from './exchange-outcome.ts';
import { readLineage, type LineageClaim } from '@vitrine/traces/lineage-headers';
import { OpenBody } from './open-body.ts';
import { exchangeCost, type Cost } from './exchange-cost.ts';
import { hostedTools } from './hosted-fees.ts';
import type { PriceCatalogue } from './price-catalogue.ts';
import { serviceNamedIn } from './service-class.ts';
import { NO_TOKENS, sumOf } from './token-counts.ts';
import { policyFor, type PrivacyPolicy } from '@vitrine/privacy/privacy-rules';
import type { PrivacyContext } from '@vitrine/privacy/privacy-context';
import { Redactor } from '@vitrine/privacy/redactor';
import type { Redaction } from '@vitrine/privacy/redaction';
import { Scrubber } from '@vitrine/privacy/redaction';
import { LATE_BODY, storedBody, type StoredBody } from './stored-body.ts';
import { traceMetadata } from './trace-metadata.ts';
import type { WholeTraceRecord } from '@vitrine/traces/trace-record';
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
  const facts = responseFacts(response);
  const charged = chargedUsage(exchange, request, response, facts);
  const { usage } = charged;
  const requested = request.facts()?.model;
  const model = sent.line(requested ?? facts?.model ?? 'unknown');
  const served = facts?.model === undefined ? undefined : received.line(facts.model);
  const outcome = outcomeOf(exchange, facts);

  const stored = policy.captureBodies ? storedBodies([request, response], [sent, received], policy, isLate) : [];
  if (stored.some((body) => body?.isLate === true)) context.onBodiesOmitted?.();
  // After the bodies, because the first call loads the price list, which does not count as work on an exchange.
  const cost = costOfExchange(exchange, served ?? model, charged, { request: request.facts(), response: facts }, prices);
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
    ...tokensOf(charged),
    usage_status: charged.status,
    latency_ms: wholeMs(exchange.latencyUs),
    time_to_first_token_us: streaming ? exchange.firstByteUs : 0,
    api_key_hash: exchange.credential === '' ? undefined : new Uint8Array(hash('sha256', exchange.credential, 'buffer')),
    estimated_cost_usd: cost?.usd ?? 0,
    cost_status: cost?.status ?? 'free',
    cost_upper_usd: cost?.upper_usd ?? 0,
    response_model: served === model ? undefined : served,
    upper_tokens: upperTokens(charged),
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
      cost,
      responseModel: served === model ? undefined : served,
      serviceTier: facts && serviceNamedIn(facts).tier,
      lineageIgnored: lineage.ignored,
      applied,
      sent,
      received,
      bodies: { request: stored[0], response: stored[1] },
    }),
    background: charged.background,
    batch_files: batchFilesIn(exchange, facts),
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

/** Tokens at the most; undefined when they are those that the trace shows. */
function upperTokens({ calls, usage, isFree }: ChargedUsage): number | undefined {
  if (isFree || calls.every(({ shown, most }) => shown === most)) return undefined;
  const { input, output } = sumOf(calls, ({ most }) => most);
  return Math.max(input + output, usage?.total_tokens ?? 0);
}

function batchFilesIn({ provider, sentStatus, path }: CapturedExchange, facts: BodyFacts | undefined) {
  const files = facts?.batchFiles ?? [];
  if (files.length === 0 || provider !== 'openai' || sentStatus >= 400 || !path.includes('/batches')) return undefined;
  return files.map(batchFileReference);
}

/** The price of what is charged; undefined when nothing is. */
function costOfExchange(
  { provider, endedAt }: CapturedExchange,
  model: string,
  { isFree, calls, pieces, status }: ChargedUsage,
  facts: { readonly request: BodyFacts | undefined; readonly response: BodyFacts | undefined },
  prices: PriceCatalogue,
): Cost | undefined {
  if (isFree) return undefined;
  const form = provider === 'anthropic' ? 'anthropic' : 'openai';
  const fees = facts.response?.batch?.fees;
  const tools =
    fees === undefined
      ? hostedTools(form, model, facts, status !== 'reported')
      : { least: fees, most: fees, isDoubtful: false, calls: [] };
  const service = serviceNamedIn(facts.response ?? NO_FACTS);
  return exchangeCost(
    { provider, model, calls, service, tools, pieces, isEstimate: status !== 'reported' },
    prices,
    new Date(endedAt),
  );
}

/** The reported tokens, or else the estimated ones; none for what will be reported later. */
function tokensOf({
  usage,
  status,
  calls,
  background,
}: ChargedUsage): Pick<WholeTraceRecord, 'input_tokens' | 'output_tokens' | 'total_tokens'> {
  if (usage !== undefined) {
    const { input_tokens, output_tokens, total_tokens } = usage;
    return { input_tokens, output_tokens, total_tokens };
  }
  const isEstimate = status === 'estimated' && background === undefined;
  const { input, output } = isEstimate ? sumOf(calls, ({ shown }) => shown) : NO_TOKENS;
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}
