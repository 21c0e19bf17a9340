import { ROOT_CONTEXT, SpanKind, SpanStatusCode, type Attributes, type Context, type Tracer } from '@opentelemetry/api';

/** A span of finished work. Times are those of `performance.now()`. */
export interface FinishedSpan {
  readonly name: string;
  readonly attributes?: Attributes;
  /** Why it failed; undefined when it did not. */
  readonly failure?: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Records an internal span after the fact: a trace of its own, or a child of the span in `parent`. `offset`: see `epochOffset`. */
export function recordSpan(
  tracer: Tracer,
  { name, attributes = {}, failure, startedAt, endedAt }: FinishedSpan,
  parent: Context = ROOT_CONTEXT,
  offset: number = epochOffset(),
): void {
  const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes, startTime: startedAt + offset }, parent);
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
  span.end(endedAt + offset);
}

/**
 * The offset from a time of `performance.now()` to milliseconds since the epoch. Related spans use one reading, because the system clock
 * may be set in between.
 */
export function epochOffset(): number {
  return Date.now() - performance.now();
}
