import { z } from 'zod';
import { dateTime } from './enumerations.ts';

/** Spec: S7.1, S7.2. */
export const ERROR_STATUSES = {
  invalid_request: 400,
  unauthorized: 401,
  payment_required: 402,
  forbidden_scope: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  internal: 500,
  not_implemented: 501,
  overloaded: 503,
  concurrency_limited: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUSES;

export const errorResponse = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(ERROR_STATUSES) as [ErrorCode, ...ErrorCode[]]),
      message: z.string().describe('May change; branch on code.'),
      request_id: z.string().describe('Equals the X-Request-Id header.'),
      reset_at: dateTime
        .optional()
        .describe('Of payment_required: when the allowance is reset; missing where the plan has no such units.'),
    }),
  })
  .meta({ id: 'ErrorResponse' });
export type ErrorResponse = z.infer<typeof errorResponse>;
