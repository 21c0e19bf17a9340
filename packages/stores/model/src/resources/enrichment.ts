import { z } from 'zod';
import { matchOutcome, noMatchReason, count, dateTime } from './enumerations.ts';
import { ATTEMPT_REASONS } from '../scans/finish-scan-job.ts';
import { store } from './store.ts';

/** The contract's maximum of domains in a request. Spec: S3.18. */
const MAX_ENRICH_DOMAINS = 100;

/** Spec: S2.30. */
export const enrichRequest = z
  .strictObject({
    domains: z.array(z.string().min(3).max(253)).min(1).max(MAX_ENRICH_DOMAINS).describe('Host names or URLs.'),
    refresh: z.boolean().default(false).describe('Queues scans of domains that are stale or not in the corpus.'),
  })
  .meta({ id: 'EnrichRequest' });
export type EnrichRequest = z.infer<typeof enrichRequest>;

const lastAttempt = z
  .object({
    state: z.enum(['completed', 'blocked', 'failed']),
    reason: z.enum(ATTEMPT_REASONS).nullable().describe('Why the scan produced no observation; null when it was completed.'),
    finished_at: dateTime,
  })
  .meta({ id: 'LastAttempt', description: 'The last finished scan of the domain, whoever requested it.' });
export type LastAttempt = z.infer<typeof lastAttempt>;

const enrichResult = z
  .object({
    input: z.string().describe('Exactly as sent.'),
    match: matchOutcome,
    reason: noMatchReason.nullable().describe('Set when match is no_match.'),
    store: store.nullable().describe('Set when match is matched or stale.'),
    scan_requested: z
      .boolean()
      .describe(
        'False also with refresh where the last scan was blocked or failed within the hour: scan_job_id is then that scan.',
      ),
    scan_job_id: z.string().nullable(),
    last_attempt: lastAttempt
      .nullable()
      .describe('Null where no scan has ended within 7 days, and for domains that are blocked.'),
  })
  .meta({ id: 'EnrichResult' });

/** Spec: S2.32. */
export const enrichResponse = z
  .object({
    request_id: z.string().describe('Equals the X-Request-Id header.'),
    results: z.array(enrichResult).describe('One for each input, in their order.'),
    billed: z.object({ lookup_cached: count, lookup_live: count }),
  })
  .meta({ id: 'EnrichResponse' });
export type EnrichResponse = z.infer<typeof enrichResponse>;
