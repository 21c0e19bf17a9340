import { SpanKind, SpanStatusCode, TraceFlags, type Attributes, type HrTime, type SpanContext } from '@opentelemetry/api';
import { TraceState } from '@opentelemetry/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { scrub } from '@vitrine/privacy/scrub';
import type { EndedSpan, SpanAttributes, SpanOrigin, SpanShape } from './ended-span.ts';
import type { RandomIds } from './random-ids.ts';

const KINDS: Readonly<Record<SpanShape['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
};

/** A span as the SDK's exporters read it; no credential is left in it. Spec: Credential scrubbing. */
export function readableSpan(span: EndedSpan, { resource, scope }: SpanOrigin, ids: RandomIds): ReadableSpan {
  const { traceId, parentSpanId, isParentRemote, own } = span;
  const { name, kind, attributes, failure } = span.shape;
  const state = cleanState(span.traceState);
  const sampled = { traceId, traceFlags: TraceFlags.SAMPLED, ...(state === '' ? {} : { traceState: new TraceState(state) }) };
  const context: SpanContext = { ...sampled, spanId: span.spanId ?? ids.spanId() };
  return {
    name: scrub(name).text,
    kind: KINDS[kind],
    spanContext: () => context,
    ...(parentSpanId === undefined ? {} : { parentSpanContext: { ...sampled, spanId: parentSpanId, isRemote: isParentRemote } }),
    startTime: hrTimeOf(span.startedAt),
    endTime: hrTimeOf(span.endedAt),
    duration: hrTimeOf(span.endedAt - span.startedAt),
    status: failure === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: scrub(failure).text },
    attributes: attributesOf([...attributes, ...own]),
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** A trace state is a client's text; one that holds a credential is left out as a whole. */
export function cleanState(state: string): string {
  return state === '' || scrub(state).count === 0 ? state : '';
}

/** Nanoseconds of a moment's second. */
export function nanosOf(milliseconds: number, seconds: number): number {
  return Math.min(999_999_999, Math.round((milliseconds - seconds * 1_000) * 1_000_000));
}

function hrTimeOf(milliseconds: number): HrTime {
  const seconds = Math.trunc(milliseconds / 1_000);
  return [seconds, nanosOf(milliseconds, seconds)];
}

function attributesOf(namesAndValues: SpanAttributes): Attributes {
  const attributes: Attributes = {};
  for (let at = 0; at < namesAndValues.length; at += 2) {
    const value = namesAndValues[at + 1];
    attributes[String(namesAndValues[at])] = typeof value === 'string' ? scrub(value).text : value;
  }
  return attributes;
}
