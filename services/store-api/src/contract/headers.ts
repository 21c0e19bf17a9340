import { z } from 'zod';

/** Spec: S3.7, S3.8. */
export const REQUEST_ID: RegExp = /^[A-Za-z0-9_-]{8,64}$/;
export const REQUEST_ID_HEADER = 'X-Request-Id';
export const MIN_IDEMPOTENCY_KEY = 8;
export const MAX_IDEMPOTENCY_KEY = 128;

export const requestIdHeader = z
  .string()
  .optional()
  .meta({
    description: 'Echoed when it has 8 to 64 characters of A-Z a-z 0-9 _ -; otherwise an id is generated.',
    examples: ['run-2026-11-23-batch-7'],
  });
export const idempotencyKeyHeader = z.string().min(MIN_IDEMPOTENCY_KEY).max(MAX_IDEMPOTENCY_KEY).optional().meta({
  description:
    'The same key, operation and input within 24 hours returns the original response and bills nothing; for anything else it is a conflict.',
});
export const ifNoneMatchHeader = z.string().optional().meta({ description: 'ETags that the client has; 304 is free.' });

const integer = { type: 'integer', minimum: 0 } as const;

/** Headers of responses. A request that is malformed before its key is read gets only the first. */
export const CONTRACT_HEADERS = {
  [REQUEST_ID_HEADER]: {
    description: 'The id of the request; for a replay, the id of the first request.',
    required: true,
    schema: { type: 'string', pattern: REQUEST_ID.source },
  },
  'X-RateLimit-Limit': { description: 'Requests per minute for the key.', schema: integer },
  'X-RateLimit-Remaining': { description: 'Requests left in the current minute.', schema: integer },
  'X-RateLimit-Reset': { description: 'Seconds until the minute resets.', schema: integer },
  'X-Usage-Remaining': {
    description: 'lookup_cached units left in the billing period; none for partners, which are metered without a stop.',
    schema: integer,
  },
  'Retry-After': { description: 'Seconds to wait.', schema: integer },
  Allow: { description: 'The methods that the path supports.', required: true, schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'Bearer.', schema: { type: 'string' } },
  Vary: {
    description: 'Accept-Encoding, of bodies above 8 KB: they are compressed where it has gzip.',
    schema: { type: 'string' },
  },
  ETag: { description: 'Weak, of the profile and of how fresh it is for the plan.', schema: { type: 'string' } },
  'Idempotent-Replayed': { description: 'true for a replay, which bills nothing.', schema: { type: 'string', const: 'true' } },
} as const;
