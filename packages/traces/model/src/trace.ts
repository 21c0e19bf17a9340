import { z } from 'zod';
import type { Tenant } from './exchange-scope.ts';
import { fieldSchemas, traceId } from './field-schemas.ts';
import { SUMMARY_FIELDS } from './trace-fields.ts';
import { traceMetadataShape } from './trace-metadata-shape.ts';
import type { COST_STATUSES, OUTCOMES, PROVIDERS, USAGE_STATUSES } from './trace-values.ts';

export type Outcome = (typeof OUTCOMES)[number];
export type UsageStatus = (typeof USAGE_STATUSES)[number];
export type CostStatus = (typeof COST_STATUSES)[number];
export type Provider = (typeof PROVIDERS)[number];

/** base64url of 16 bytes, whose last character encodes two bits. */
export const CURSOR: RegExp = /^[A-Za-z0-9_-]{21}[AQgw]$/;

/** One exchange as the list shows it. Times are RFC 3339 UTC, latencies whole milliseconds. Spec: G4.1 to G4.16. */
export const traceSummary = z
  .strictObject(fieldSchemas(SUMMARY_FIELDS, 'shown'))
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
