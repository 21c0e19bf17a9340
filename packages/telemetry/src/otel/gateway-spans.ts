import { ROOT_CONTEXT, SpanKind, SpanStatusCode, type Context, type Tracer } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { IncomingHttpHeaders } from 'node:http';
import { scrub } from '../scrub.ts';
import { RequestSpan, type SpanClock } from './request-span.ts';

/** A batch that was written, or tried. Times are those of `performance.now()`. */
export interface WrittenBatch {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly batchSize: number;
  /** Undefined when all of it was written. */
  readonly errorClass: string | undefined;
}

/** What the gateway tells its tracer. Spec: gateway, Spans. */
export interface GatewaySpans {
  /** Begins the server span of a request; a sampled `traceparent` is respected. `route`: `/openai/*`, `/anthropic/*`, `/api/*` or
   *  `/other`. */
  begin(method: string, route: string, headers: IncomingHttpHeaders): RequestSpan;
  /** One `gateway.trace.write` span, a trace of its own: a batch belongs to no single request. */
  batchWritten(batch: WrittenBatch): void;
}

const propagator = new W3CTraceContextPropagator();
const getter = {
  keys: (headers: IncomingHttpHeaders) => Object.keys(headers),
  get: (headers: IncomingHttpHeaders, name: string) => headers[name],
};

/** `genai`: whether client spans carry the attributes of the GenAI conventions. */
export function createGatewaySpans(tracer: Tracer, clock: SpanClock, genai: boolean): GatewaySpans {
  return {
    begin: (method, route, headers) => new RequestSpan({ tracer, clock, genai }, method, route, contextOf(headers)),
    batchWritten: ({ startedAt, endedAt, batchSize, errorClass }) => {
      const offset = clock.epochMs() - clock.now();
      const span = tracer.startSpan(
        'gateway.trace.write',
        {
          kind: SpanKind.INTERNAL,
          startTime: startedAt + offset,
          attributes: { 'gateway.trace.write.batch_size': batchSize },
        },
        ROOT_CONTEXT,
      );
      if (errorClass !== undefined) {
        span.setAttribute('gateway.trace.write.error_class', scrub(errorClass).text);
        span.setStatus({ code: SpanStatusCode.ERROR, message: 'write failed' });
      }
      span.end(endedAt + offset);
    },
  };
}

function contextOf(headers: IncomingHttpHeaders): Context {
  return headers['traceparent'] === undefined ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, headers, getter);
}
