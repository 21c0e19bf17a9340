import type { SpanKind } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';

/** Names and values in turn. */
export type SpanAttributes = readonly (string | number)[];

/** What many spans have in common. A sink may remember what it made of one. */
export interface SpanShape {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: SpanAttributes;
  /** Why it failed; undefined when it did not. */
  readonly failure: string | undefined;
}

/** A sampled span that has ended, as it was told: not scrubbed yet. */
export interface EndedSpan {
  readonly shape: SpanShape;
  /** Attributes that no other span has. */
  readonly own: SpanAttributes;
  /** Ids are hexadecimal, in lower case. */
  readonly traceId: string;
  /** Undefined when nobody has to know it: then the sink makes one. */
  readonly spanId: string | undefined;
  /** Undefined for the root of a trace. */
  readonly parentSpanId: string | undefined;
  /** Whether there is a parent and it is somebody else's. */
  readonly isParentRemote: boolean;
  /** What a client sent along with its ids; '' for nothing. */
  readonly traceState: string;
  /** Milliseconds since the epoch, with fractions. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Where ended spans go. */
export interface SpanSink {
  /** Takes a span, or drops and counts it when too many wait. */
  add(span: EndedSpan): void;
  /** Resolves when all that was added is exported or given up; nothing is taken from then on. */
  shutdown(): Promise<void>;
}

/** What all spans of a process share. */
export interface SpanOrigin {
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
}
