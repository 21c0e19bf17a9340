import type { Attributes, SpanContext, SpanStatus } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { scrub } from '@vitrine/privacy/scrub';

/**
 * Wraps `exporter` and removes credentials from the name, attributes, status and trace state of every span. Spans of this project have
 * no events and no links. Spec: G13.1.
 */
export function scrubbingExporter(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, callback) => exporter.export(spans.map(scrubSpan), callback),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

function scrubSpan(span: ReadableSpan): ReadableSpan {
  const { kind, parentSpanContext, startTime, endTime, duration, links, events, ended, resource, instrumentationScope } = span;
  const { droppedAttributesCount, droppedEventsCount, droppedLinksCount } = span;
  const context = scrubContext(span.spanContext());
  return {
    name: scrub(span.name).text,
    kind,
    spanContext: () => context,
    ...(parentSpanContext === undefined ? {} : { parentSpanContext }),
    startTime,
    endTime,
    status: scrubStatus(span.status),
    attributes: scrubAttributes(span.attributes),
    links,
    events,
    duration,
    ended,
    resource,
    instrumentationScope,
    droppedAttributesCount,
    droppedEventsCount,
    droppedLinksCount,
  };
}

/** A trace state is client input. One that contains a credential is omitted completely. */
function scrubContext(context: SpanContext): SpanContext {
  const { traceState, ...rest } = context;
  return traceState === undefined || scrub(traceState.serialize()).count === 0 ? context : rest;
}

function scrubStatus(status: SpanStatus): SpanStatus {
  return status.message === undefined ? status : { ...status, message: scrub(status.message).text };
}

function scrubAttributes(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, scrubValue(value)]));
}

function scrubValue(value: unknown): unknown {
  if (typeof value === 'string') return scrub(value).text;
  return Array.isArray(value) ? value.map(scrubValue) : value;
}
