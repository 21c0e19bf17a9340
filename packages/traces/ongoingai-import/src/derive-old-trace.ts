import type { CapturedBody } from '@vitrine/trace-derivation/captured-exchange';
import type { CapturePolicy } from '@vitrine/trace-derivation/capture-policy';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import { LAST_CHECKPOINT_SEQ, LINEAGE_ID, type LineageClaim } from '@vitrine/traces/lineage-headers';
import { OpenBody } from '@vitrine/trace-derivation/open-body';
import { addFindings, FINDING_KINDS, hasFindings, noFindings, type FindingCounts } from '@vitrine/privacy/findings';
import { policyFor } from '@vitrine/privacy/privacy-rules';
import type { PrivacyContext } from '@vitrine/privacy/privacy-context';
import { Redactor } from '@vitrine/privacy/redactor';
import { Scrubber, type Redaction } from '@vitrine/privacy/redaction';
import { storedBody, type StoredBody } from '@vitrine/trace-derivation/stored-body';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import type { CostStatus, Provider } from '@vitrine/traces/trace';
import { scrub } from '@vitrine/privacy/scrub';
import { bodyKindOf } from '@vitrine/privacy/bodies/body-kind';
import { objectOf, readOldHeaders, type OldHeaders } from './old-headers.ts';
import type { OldTraceRow } from './old-traces.ts';

/** The source of imported traces and of their estimated cost, in their metadata. */
const OLD_GATEWAY = 'ongoingai';

const ID_MAX = 128;

export interface OldTraceContext {
  readonly policy: CapturePolicy;
  readonly privacy: PrivacyContext;
  /** The header that carries gateway keys here. */
  readonly keyHeader: string;
  /** The new id of an old one, as hex; undefined when the file does not contain the trace. */
  readonly newIdOf: (oldId: string) => string | undefined;
}

type Metadata = Readonly<Record<string, unknown>>;

/** Derives the trace of a row of the old gateway. Tokens, cost, tenant and lineage are kept; secrets and personal data are redacted as in
 *  any trace. `id` and `createdAt` are its new id and `created_at`. Undefined for an invalid status. */
export function deriveOldTrace(
  row: OldTraceRow,
  { id, createdAt }: { readonly id: Uint8Array<ArrayBuffer>; readonly createdAt: number },
  tools: OldTraceContext,
): TraceRecord | undefined {
  if (row.response_status < 100 || row.response_status > 599) return undefined;
  const metadata = objectOf(row.metadata);
  const provider: Provider = row.provider === 'openai' || row.provider === 'anthropic' ? row.provider : 'unknown';
  const scope: ExchangeScope = {
    org_id: idText(row.org_id) || 'default',
    workspace_id: idText(row.workspace_id) || 'default',
    gateway_key_id: idText(row.gateway_key_id) || idText(metadata['gateway_key_id']),
    role: idText(metadata['role']),
  };
  const path = row.request_path || '/';
  const applied = policyFor(tools.policy.privacy, { ...scope, provider, path });
  const redaction = (): Redaction => (applied.mode === 'off' ? new Scrubber() : new Redactor(tools.privacy, scope.workspace_id));
  const [sent, received] = [redaction(), redaction()];
  const headers = [row.request_headers, row.response_headers].map((text) => readOldHeaders(text, tools.keyHeader));
  const [requestHeaders = NO_HEADERS, responseHeaders = NO_HEADERS] = headers;
  const isCut = metadata['redaction_truncated'] === true;
  const bodies = [
    keptBody(row.request_body, row.request_body_bytes, requestHeaders, isCut, tools, sent),
    keptBody(row.response_body, row.response_body_bytes, responseHeaders, isCut, tools, received),
  ];
  const { claim, ignored } = lineageOf(row, metadata, tools, sent);
  const method = sent.line(row.request_method || 'UNKNOWN');
  const firstTokenUs = row.time_to_first_token_us || row.time_to_first_token_ms * 1_000;
  const cost = Number.isFinite(row.estimated_cost_usd) ? Math.max(0, row.estimated_cost_usd) : 0;
  const total = row.total_tokens || row.input_tokens + row.output_tokens;
  const record = {
    id,
    scope,
    timestamp: Math.max(0, createdAt - row.latency_ms),
    created_at: createdAt,
    provider,
    model: sent.line(row.model || 'unknown'),
    request_method: method,
    request_path: sent.path(path),
    response_status: row.response_status,
    // The old gateway stored no aborted exchanges.
    outcome: 'completed',
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    total_tokens: total,
    usage_status: total > 0 ? 'reported' : 'missing',
    latency_ms: row.latency_ms,
    time_to_first_token_us: firstTokenUs,
    api_key_hash: isHash(row.api_key_hash) ? new Uint8Array(Buffer.from(row.api_key_hash, 'hex')) : undefined,
    estimated_cost_usd: cost,
    cost_status: costStatusOf(cost, total, method, row.response_status),
    lineage: claim,
    request_headers: sent.headers(requestHeaders.lines),
    response_headers: received.headers(responseHeaders.lines),
    request_body: bodies[0]?.text,
    response_body: bodies[1]?.text,
  } as const satisfies Omit<TraceRecord, 'metadata'>;
  const counts = oldFindings(metadata);
  for (const { counts: found } of [sent, received]) addFindings(counts, found);
  counts.header += requestHeaders.secrets + responseHeaders.secrets;
  return { ...record, metadata: metadataText(row, metadata, { sent, counts, applied, ignored, cost, bodies }) };
}

const NO_HEADERS: OldHeaders = { lines: '', secrets: 0, contentType: undefined, contentEncoding: undefined };

/** Ids of tenants and keys identify callers, so that they are changed only where they could not be stored. */
function idText(value: unknown): string {
  if (typeof value !== 'string') return '';
  return scrub(value.trim())
    .text.replaceAll(/\p{Cc}/gu, '?')
    .slice(0, ID_MAX);
}

function isHash(text: string | null): text is string {
  return /^[0-9a-f]{64}$/.test(text ?? '');
}

/** Without a cost, the old gateway may not have known the price: its price list was short. */
function costStatusOf(cost: number, tokens: number, method: string, status: number): CostStatus {
  if (cost > 0) return 'priced';
  return tokens === 0 && (method !== 'POST' || status >= 400) ? 'free' : 'unpriced';
}

/** Bodies are imported when this gateway captures bodies. */
function keptBody(
  bytes: Uint8Array | null,
  length: number,
  headers: OldHeaders,
  isCut: boolean,
  { policy }: OldTraceContext,
  redaction: Redaction,
): StoredBody | undefined {
  if (bytes === null || bytes.length === 0 || !policy.captureBodies) return undefined;
  const captured = (wholeLength: number): CapturedBody => ({
    kind: bodyKindOf(headers.contentType),
    coding: headers.contentEncoding ?? '',
    chunks: [bytes],
    bytes: wholeLength,
    facts: undefined,
  });
  // The old gateway did not mark every body that it had cut: a body that ends inside its compression was cut.
  const body = new OpenBody(captured(isCut ? length + 1 : length));
  return storedBody(body.decoded() === undefined ? new OpenBody(captured(length + 1)) : body, policy, redaction);
}

function lineageOf(row: OldTraceRow, metadata: Metadata, { newIdOf }: OldTraceContext, redaction: Redaction) {
  const claim: { -readonly [Field in keyof LineageClaim]: LineageClaim[Field] } = {};
  let ignored = 0;
  const idOf = (value: unknown) => {
    if (typeof value !== 'string' || value.trim() === '') return undefined;
    if (LINEAGE_ID.test(value.trim())) return redaction.line(value.trim());
    ignored += 1;
    return undefined;
  };
  const group = idOf(row.trace_group_id) ?? idOf(metadata['lineage_group_id']);
  const thread = idOf(metadata['lineage_thread_id']);
  const run = idOf(metadata['lineage_run_id']);
  const parent = idOf(metadata['lineage_parent_checkpoint_id']);
  const seq = metadata['lineage_checkpoint_seq'];
  if (group !== undefined) claim.trace_group_id = group;
  if (thread !== undefined) claim.thread_id = thread;
  if (run !== undefined) claim.run_id = run;
  // A parent is a trace too, and has a new id.
  if (parent !== undefined) claim.parent_checkpoint_id = newIdOf(parent) ?? parent;
  if (typeof seq === 'number' && Number.isInteger(seq) && seq >= 0 && seq <= LAST_CHECKPOINT_SEQ) claim.checkpoint_seq = seq;
  return { claim, ignored };
}

function oldFindings(metadata: Metadata): FindingCounts {
  const counts = noFindings();
  const old = (metadata['redaction_counts'] ?? {}) as Metadata;
  for (const kind of FINDING_KINDS) {
    const count = old[kind];
    if (typeof count === 'number' && Number.isInteger(count) && count > 0) counts[kind] = count;
  }
  return counts;
}

function metadataText(
  row: OldTraceRow,
  metadata: Metadata,
  of: {
    readonly sent: Redaction;
    readonly counts: FindingCounts;
    readonly applied: { readonly mode: string; readonly policyId: string };
    readonly ignored: number;
    readonly cost: number;
    readonly bodies: readonly (StoredBody | undefined)[];
  },
): string {
  const text = (name: string) => {
    const value = metadata[name];
    return typeof value === 'string' && value !== '' ? of.sent.line(value.slice(0, ID_MAX)) : undefined;
  };
  const streaming = metadata['streaming'] === true;
  const [request, response] = of.bodies;
  const isDropped = of.bodies.some((body) => body !== undefined && body.text === undefined);
  const last4 = metadata['api_key_last4'];
  return JSON.stringify({
    streaming,
    stream_chunks: streaming && typeof metadata['stream_chunks'] === 'number' ? metadata['stream_chunks'] : undefined,
    correlation_id: text('correlation_id'),
    api_key_last4: typeof last4 === 'string' && last4.length <= 4 ? last4 : undefined,
    team: text('team'),
    price_source: of.cost > 0 ? OLD_GATEWAY : undefined,
    imported_from: OLD_GATEWAY,
    imported_from_id: idText(row.id),
    lineage_ignored: of.ignored === 0 ? undefined : of.ignored,
    request_body_truncated: request?.truncated === true ? true : undefined,
    request_body_encoding: request?.encoding,
    response_body_truncated: response?.truncated === true ? true : undefined,
    response_body_encoding: response?.encoding,
    redaction_storage_drop: isDropped || metadata['redaction_storage_drop'] === true ? true : undefined,
    redaction_mode: of.applied.mode,
    redaction_policy_id: of.applied.policyId,
    redaction_applied: hasFindings(of.counts),
    redaction_counts: of.counts,
    imported_redaction_mode: text('redaction_mode'),
  });
}
