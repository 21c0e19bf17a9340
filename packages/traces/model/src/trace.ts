import { z } from 'zod';
import type { Tenant } from './exchange-scope.ts';
import { traceMetadataShape } from './trace-metadata-shape.ts';
import { COST_STATUSES, OUTCOMES, PROVIDERS, USAGE_STATUSES } from './trace-values.ts';

export type Outcome = (typeof OUTCOMES)[number];
export type UsageStatus = (typeof USAGE_STATUSES)[number];
export type CostStatus = (typeof COST_STATUSES)[number];
export type Provider = (typeof PROVIDERS)[number];

const count = z.int().min(0);
/** base64url of 16 bytes, whose last character encodes two bits. */
export const CURSOR: RegExp = /^[A-Za-z0-9_-]{21}[AQgw]$/;
/** The id of a trace, which is also a checkpoint. */
export const traceId = z.string().regex(/^[0-9a-f]{32}$/);
/** SHA-256 of a provider's credential, in hex. */
export const credentialHash = z.string().regex(/^[0-9a-f]{64}$/);

/** One exchange as the list shows it. Times are RFC 3339 UTC, latencies whole milliseconds. Spec: G4.1 to G4.16. */
export const traceSummary = z
  .strictObject({
    id: traceId.describe('A UUIDv7 without dashes whose time is created_at: sorting by it sorts by time.'),
    timestamp: z.iso.datetime().describe('When the exchange started.'),
    created_at: z.iso.datetime().describe('When the exchange was finished.'),
    provider: z.enum(PROVIDERS),
    model: z.string().describe('From the request, else from the response, else unknown.'),
    request_method: z.string(),
    request_path: z.string().describe('As the client sent it, without credentials in its query.'),
    response_status: z
      .int()
      .min(100)
      .max(599)
      .describe('Status sent to the client; 499 when it disconnected first, 502 or 504 when the provider failed.'),
    outcome: z.enum(OUTCOMES).describe('Who ended the exchange, and how.'),
    input_tokens: count.describe('Including tokens read from and written to caches; 0 when unknown.'),
    output_tokens: count,
    total_tokens: count,
    usage_status: z.enum(USAGE_STATUSES).describe('Whether the token counts can be trusted.'),
    latency_ms: count.describe('From the request to the end of the response.'),
    time_to_first_token_ms: count.describe('Of a stream, to the nearest millisecond; otherwise 0.'),
    time_to_first_token_us: count,
    api_key_hash: credentialHash.optional().describe("SHA-256 of the provider's credential."),
    estimated_cost_usd: z
      .number()
      .min(0)
      .describe('US dollars, exact to 1e-12; below a millionth it is written with an exponent, as 1.5e-7.'),
    cost_status: z.enum(COST_STATUSES).describe('Meaning of a cost of 0: unknown when unpriced, the price when free.'),
  })
  .meta({ id: 'TraceSummary', description: 'One exchange as lists show it.' });
export type TraceSummary = z.infer<typeof traceSummary>;

/** The position of a trace in a conversation. A trace is its own checkpoint. */
export const lineage = z
  .strictObject({
    group_id: z.string().optional().describe('As the client named it, else the trace id of the traceparent that it sent.'),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
    checkpoint_id: traceId.describe('The id of the trace itself.'),
    parent_checkpoint_id: z.string().optional().describe('The previous trace, as named by the client.'),
    checkpoint_seq: z.int().min(0).optional(),
    immutable: z.boolean(),
  })
  .meta({ id: 'Lineage', description: 'Position of a trace in a conversation; each trace is a checkpoint.' });
export type Lineage = z.infer<typeof lineage>;

/** The source of a trace's group, as in `metadata.lineage_group_source`. Only a group named by the client connects a conversation. */
export type GroupSource = 'client' | 'traceparent';

/** A trace as a checkpoint of a conversation. */
export interface Checkpoint extends TraceSummary {
  readonly lineage: Lineage;
  /** Its group if the client named it. Any other group is only a label (`lineage-headers.ts`). */
  readonly namedGroup?: string | undefined;
}

/** Lower-case header name -> its values in order of arrival; secrets are `[REDACTED]`. */
const headerValues = z.record(z.string(), z.array(z.string()));

/** A trace with everything stored of the exchange. Bodies are present only when `tracing.capture_bodies` is on. */
export const traceDetail = traceSummary
  .extend({
    trace_group_id: z.string().optional(),
    lineage: lineage.optional(),
    request_headers: headerValues,
    response_headers: headerValues,
    request_body: z.string().optional(),
    response_body: z.string().optional(),
    metadata: traceMetadataShape,
  })
  .meta({ id: 'TraceDetail', description: 'One exchange with everything that was stored.' });
export type TraceDetail = z.infer<typeof traceDetail>;

/** The tenant of the trace; both are '' when it is unknown. */
export function tenantOf({ metadata }: Pick<TraceDetail, 'metadata'>): Tenant {
  const text = (field: string) => (typeof metadata[field] === 'string' ? metadata[field] : '');
  return { org_id: text('org_id'), workspace_id: text('workspace_id') };
}

/** A page of traces, newest first by (`created_at`, `id`); `next_cursor` is absent on the last page. */
export const tracePage = z
  .strictObject({ items: z.array(traceSummary), next_cursor: z.string().regex(CURSOR).optional() })
  .meta({ id: 'TracePage', description: 'A page of traces, the newest first.' });
export type TracePage = z.infer<typeof tracePage>;
