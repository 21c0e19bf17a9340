/** The ids of a span, in lower case hexadecimal. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

const none = (): SpanIds | undefined => undefined;
let read = none;

/** The span that is active; undefined in a process without telemetry, which does not load OpenTelemetry for its log lines (16 ms of CPU). */
export function activeSpan(): SpanIds | undefined {
  return read();
}

/** From now on active spans are read by `readSpan`, until the returned function is called. Called by telemetry. OpenTelemetry's own context is
 *  global to the process as well. */
export function readActiveSpanBy(readSpan: () => SpanIds | undefined): () => void {
  read = readSpan;
  return () => (read = none);
}
