import { ROOT_CONTEXT, trace, type SpanContext } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import type { IncomingHttpHeaders } from 'node:http';
import type { SpanShape, SpanSink } from './ended-span.ts';
import { RandomIds } from './random-ids.ts';
import { SpanShapes } from './span-shapes.ts';

const propagator = new W3CTraceContextPropagator();
const getter = {
  keys: (headers: IncomingHttpHeaders) => Object.keys(headers),
  get: (headers: IncomingHttpHeaders, name: string) => headers[name],
};

/** What all spans of a process share: where they go, their ids, the sampling decision. Ended spans go straight to the sink: the SDK's
 *  tracer would check and copy attributes that are known to be valid, at two thirds of the cost of a sampled request. */
export class Tracer {
  readonly sink: SpanSink;
  readonly ids = new RandomIds();
  readonly shapes = new SpanShapes();
  /** Undefined: every trace is recorded. */
  readonly #sampler: TraceIdRatioBasedSampler | undefined;

  /** `samplingRatio`: of the traces that begin here, 0 to 1. */
  constructor(sink: SpanSink, samplingRatio: number) {
    this.sink = sink;
    this.#sampler = samplingRatio < 1 ? new TraceIdRatioBasedSampler(samplingRatio) : undefined;
  }

  /** Whether a trace without a parent is recorded. */
  isSampled(traceId: string): boolean {
    const result = this.#sampler?.shouldSample(ROOT_CONTEXT, traceId);
    return result === undefined || result.decision === SamplingDecision.RECORD_AND_SAMPLED;
  }

  /** The span of the client that sent these headers, if it sent a valid `traceparent`. */
  parentOf(headers: IncomingHttpHeaders): SpanContext | undefined {
    if (headers['traceparent'] === undefined) return undefined;
    return trace.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, getter));
  }

  /** Records one span that is a trace of its own, if that trace is sampled. Times are those of `performance.now()`. */
  recordRoot(shape: SpanShape, startedAt: number, endedAt: number): void {
    const traceId = this.ids.traceId();
    if (!this.isSampled(traceId)) return;
    const offset = Date.now() - performance.now();
    this.sink.add({
      shape,
      own: [],
      traceId,
      spanId: undefined,
      parentSpanId: undefined,
      isParentRemote: false,
      traceState: '',
      startedAt: startedAt + offset,
      endedAt: endedAt + offset,
    });
  }
}
