import type { Tracer } from '@vitrine/telemetry/spans/tracer';
import type { IncomingHttpHeaders } from 'node:http';
import { writeShape } from './request-span-shapes.ts';
import { RequestSpan } from './request-span.ts';

/** A batch that was written, or tried. Times are those of `performance.now()`. */
export interface WrittenBatch {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly batchSize: number;
  /** Undefined when all of it was written. */
  readonly errorClass: string | undefined;
}

/** The gateway's spans. Times are those of `performance.now()`. Spec: gateway, Spans. */
export interface GatewaySpans {
  /** Begins the server span of a request; a sampled `traceparent` is respected. `route`: `/openai/*`, `/anthropic/*`, `/api/*` or
   *  `/other`. */
  begin(at: number, method: string, route: string, headers: IncomingHttpHeaders): RequestSpan;
  /** One `gateway.trace.write` span, a trace of its own: a batch belongs to no single request. */
  batchWritten(batch: WrittenBatch): void;
}

/** `genai`: whether client spans carry the attributes of the GenAI conventions. */
export function createGatewaySpans(tracer: Tracer, genai: boolean): GatewaySpans {
  return {
    begin: (at, method, route, headers) => new RequestSpan(tracer, at, method, route, headers, genai),
    batchWritten: ({ startedAt, endedAt, batchSize, errorClass }) =>
      tracer.recordRoot(writeShape(batchSize, errorClass), startedAt, endedAt),
  };
}
