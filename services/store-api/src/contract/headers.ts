import { z } from 'zod';

/** Spec: Authentication, caller correlation. */
export const REQUEST_ID: RegExp = /^[A-Za-z0-9_-]{8,64}$/;
export const REQUEST_ID_HEADER = 'X-Request-Id';
export const MIN_IDEMPOTENCY_KEY = 8;
export const MAX_IDEMPOTENCY_KEY = 128;

export const requestIdHeader = z
  .string()
  .optional()
  .meta({
    description: 'Echoed when it has 8 to 64 of A-Z a-z 0-9 _ -; otherwise an id is generated.',
    examples: ['run-2026-11-23-batch-7'],
  });
export const idempotencyKeyHeader = z.string().min(MIN_IDEMPOTENCY_KEY).max(MAX_IDEMPOTENCY_KEY).optional().meta({
  description:
    'The same key, operation and input within 24 hours returns the original response and bills nothing; for anything else it is a conflict.',
});
