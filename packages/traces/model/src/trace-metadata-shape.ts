import { z } from 'zod';
import { FINDING_KINDS } from '@vitrine/privacy/findings';
import { COST_PARTS, USAGE_SOURCES } from './trace-values.ts';
import { UPSTREAM_ERRORS } from './upstream-error.ts';

const count = z.int().min(0);
const kept = { truncated: z.boolean().optional(), encoding: z.literal('base64').optional() };

/** The `metadata` of a trace. It is open, because traces written by other versions may contain more. Spec: G4.23 to G4.28. */
export const traceMetadataShape = z
  .looseObject({
    org_id: z.string().optional(),
    workspace_id: z.string().optional(),
    gateway_key_id: z.string().optional().describe('Absent without authentication.'),
    role: z.string().optional(),
    streaming: z.boolean().optional(),
    stream_chunks: count.optional(),
    chunk_times: z
      .array(z.tuple([count, count]))
      .max(256)
      .optional()
      .describe('Of a stream with stored bodies: offset of a chunk in the body before decoding, and ms since the request.'),
    correlation_id: z.string().optional(),
    api_key_last4: z.string().max(4).optional(),
    cached_input_tokens: count.optional(),
    cache_write_input_tokens: count.optional(),
    reasoning_tokens: count.optional(),
    usage_read_back: z
      .boolean()
      .optional()
      .describe('The response reported usage that is not charged here: another request made it.'),
    background_response_id: z
      .string()
      .optional()
      .describe('The response that was created in the background, or is charged here.'),
    polled_by_gateway_key_id: z.string().optional().describe('The key that polled a response which another one had created.'),
    response_model: z
      .string()
      .optional()
      .describe('The model that served, if it is not the requested one. It is the one that is priced.'),
    service_tier: z.string().optional().describe('As the response names it.'),
    usage_source: z
      .enum(USAGE_SOURCES)
      .optional()
      .describe('Where the counts come from: the body or the stream of the response, or an estimate from its bytes.'),
    cost_breakdown: z
      .partialRecord(z.enum(COST_PARTS), z.number().min(0))
      .optional()
      .describe('What is known to be due, in US dollars; parts of 0 are absent.'),
    price_source: z.string().optional(),
    price_version: z.string().optional(),
    lineage_group_id: z.string().optional(),
    lineage_group_source: z
      .enum(['client', 'traceparent'])
      .optional()
      .describe('Origin of the group; a group from a traceparent does not separate conversations.'),
    lineage_thread_id: z.string().optional(),
    lineage_run_id: z.string().optional(),
    lineage_checkpoint_id: z.string().optional(),
    lineage_parent_checkpoint_id: z.string().optional(),
    lineage_checkpoint_seq: count.optional(),
    lineage_immutable: z.boolean().optional(),
    lineage_ignored: count.optional().describe('Invalid lineage headers.'),
    request_body_truncated: kept.truncated,
    request_body_encoding: kept.encoding,
    response_body_truncated: kept.truncated,
    response_body_encoding: kept.encoding,
    upstream_error: z
      .enum(UPSTREAM_ERRORS)
      .optional()
      .describe('Failure between the gateway and the provider; absent without one.'),
    upstream_error_detail: z.string().optional().describe('Error message of the system or the parser.'),
    retries: count.optional().describe('How often the request was sent again because a reused connection had closed.'),
    redaction_mode: z.string().optional(),
    redaction_policy_id: z.string().optional(),
    redaction_applied: z.boolean().optional(),
    redaction_storage_drop: z.boolean().optional().describe('A body was not kept, because it could not be inspected.'),
    bodies_omitted: z.enum(['time_limit']).optional().describe('Why no body was kept: the work on the exchange took too long.'),
    redaction_counts: z.partialRecord(z.enum(FINDING_KINDS), count).optional(),
  })
  .meta({ id: 'TraceMetadata', description: 'Further facts of an exchange; more fields may be added.' });
