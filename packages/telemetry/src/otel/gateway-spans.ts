import { ROOT_CONTEXT, SpanKind, trace, type SpanContext } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import type { IncomingHttpHeaders } from 'node:http';
import type { SpanSink } from './ended-span.ts';
import { RandomIds } from './random-ids.ts';
import { RequestSpan, type RequestSpanContext } from './request-span.ts';
import { SpanShapes } from './span-shapes.ts';

/** A batch that was written, or tried. Moments are those of `performance.now()`. */
export interface WrittenBatch {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly batchSize: number;
  /** Undefined when all of it was written. */
  readonly errorClass: string | undefined;
}

/** What the gateway tells its spans. Moments are those of `performance.now()`. Spec: gateway, Spans. */
export interface GatewaySpans {
  /** Begins the server span of a request; a sampled `traceparent` is respected. `route`: `/openai/*`, `/anthropic/*`, `/api/*` or
   *  `/other`. */
  begin(at: number, method: string, route: string, headers: IncomingHttpHeaders): RequestSpan;
  /** One `gateway.trace.write` span, a trace of its own: a batch belongs to no single request. */
  batchWritten(batch: WrittenBatch): void;
}

export interface GatewaySpansOptions {
  /** Of the traces that nobody has begun before, 0 to 1. */
  readonly samplingRatio: number;
  /** Whether client spans carry the attributes of the GenAI conventions. */
  readonly genai: boolean;
  /** Milliseconds of `performance.now()` and since the epoch. */
  readonly clock: { readonly now: () => number; readonly epochMs: () => number };
}

const propagator = new W3CTraceContextPropagator();
const getter = {
  keys: (headers: IncomingHttpHeaders) => Object.keys(headers),
  get: (headers: IncomingHttpHeaders, name: string) => headers[name],
};

export function createGatewaySpans(sink: SpanSink, { samplingRatio, genai, clock }: GatewaySpansOptions): GatewaySpans {
  const sampler = new TraceIdRatioBasedSampler(samplingRatio);
  const isSampled = (traceId: string) =>
    sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  const ids = new RandomIds();
  const tools: RequestSpanContext = { sink, ids, shapes: new SpanShapes(), isSampled, epochMs: clock.epochMs, genai };
  return {
    begin: (at, method, route, headers) => new RequestSpan(tools, at, method, route, parentIn(headers)),
    batchWritten: ({ startedAt, endedAt, batchSize, errorClass }) => {
      const traceId = ids.traceId();
      if (!isSampled(traceId)) return;
      const offset = clock.epochMs() - clock.now();
      const attributes = ['gateway.trace.write.batch_size', batchSize];
      if (errorClass !== undefined) attributes.push('gateway.trace.write.error_class', errorClass);
      const failure = errorClass === undefined ? undefined : 'write failed';
      sink.add({
        shape: { name: 'gateway.trace.write', kind: SpanKind.INTERNAL, attributes, failure },
        own: [],
        traceId,
        spanId: undefined,
        parentSpanId: undefined,
        isParentRemote: false,
        traceState: '',
        startedAt: startedAt + offset,
        endedAt: endedAt + offset,
      });
    },
  };
}

function parentIn(headers: IncomingHttpHeaders): SpanContext | undefined {
  if (headers['traceparent'] === undefined) return undefined;
  return trace.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, getter));
}
