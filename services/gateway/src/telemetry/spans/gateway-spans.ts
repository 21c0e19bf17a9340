import type { Tracer } from '@opentelemetry/api';
import { recordWriteSpan, type WrittenBatch } from '@vitrine/traces/write-telemetry';
import type { IncomingHttpHeaders } from 'node:http';
import { RequestSpan } from './request-span.ts';

/** The gateway's spans. Times are those of `performance.now()`. Spec: G14.18 to G14.25. */
export class GatewaySpans {
  readonly #tracer: Tracer;
  readonly #genai: boolean;

  /** `genai`: whether client spans carry the attributes of the GenAI conventions. */
  constructor(tracer: Tracer, genai: boolean) {
    this.#tracer = tracer;
    this.#genai = genai;
  }

  /** Begins the server span of a request; a sampled `traceparent` is respected. `route`: `/openai/*`, `/anthropic/*`, `/api/*` or
   *  `/other`. */
  begin(at: number, method: string, route: string, headers: IncomingHttpHeaders): RequestSpan {
    return new RequestSpan(this.#tracer, at, method, route, headers, this.#genai);
  }

  /** One `gateway.trace.write` span, a trace of its own: a batch belongs to no single request. */
  batchWritten(batch: WrittenBatch): void {
    recordWriteSpan(this.#tracer, batch);
  }
}
