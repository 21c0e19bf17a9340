import { pino, type DestinationStream, type Logger } from 'pino';
import { scrub } from './scrub.ts';

export type { Logger } from 'pino';

/** What every line carries beside its own fields: the ids of the span it was written in. Set when telemetry has started, which is after
 *  the logger is there. Spec: gateway, Log and metric correlation. */
export interface LogCorrelation {
  fields: () => object;
}

/** A pino logger whose every line passes through `scrub()` on its way out: names, messages, errors and nested values alike,
 *  because what is scrubbed is the finished line. */
export function createLogger(
  service: string,
  level: string,
  destination: DestinationStream,
  correlation: LogCorrelation = { fields: () => ({}) },
): Logger {
  const scrubbed: DestinationStream = { write: (line: string) => destination.write(scrub(line).text) };
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => correlation.fields(),
    },
    scrubbed,
  );
}
