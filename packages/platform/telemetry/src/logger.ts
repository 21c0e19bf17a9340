import { pino, type DestinationStream, type Logger } from 'pino';
import { scrub } from '@vitrine/privacy/scrub';
import { activeSpan } from './active-span.ts';
import { z } from 'zod';

export type { Logger } from 'pino';

/** A pino logger that passes every line through `scrub()`: names, messages, errors and nested values alike, because the finished line is
 *  scrubbed. A line written within an active span has its `trace_id` and `span_id`.
 *  Spec: G14.16. */
export function createLogger(service: string, level: string, destination: DestinationStream): Logger {
  const scrubbed: DestinationStream = { write: (line: string) => destination.write(scrub(line).text) };
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: idsOfActiveSpan,
    },
    scrubbed,
  );
}

function idsOfActiveSpan(): { trace_id?: string; span_id?: string } {
  const span = activeSpan();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/** Keys under `log` of every service; a service may have more. */
export const logKeys = { level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info') };

/** The same for a service with clients: `access` logs one line per request when its response has ended. */
export const accessLogKeys = { ...logKeys, access: z.boolean().default(false) };
