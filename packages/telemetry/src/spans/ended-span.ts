import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';

/** Names and values in turn. */
export type SpanAttributes = readonly (string | number)[];

/** The ids of a span, in lower case hexadecimal. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** What many spans have in common. A sink may cache its encoding by identity. */
export interface SpanShape {
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly attributes: SpanAttributes;
  /** Why it failed; undefined when it did not. */
  readonly failure: string | undefined;
}

/** A sampled span that has ended, not scrubbed yet. */
export interface EndedSpan {
  readonly shape: SpanShape;
  /** Attributes that no other span has. */
  readonly own: SpanAttributes;
  /** Ids are hexadecimal, in lower case. */
  readonly traceId: string;
  /** Undefined when nothing refers to it: then the sink makes one. */
  readonly spanId: string | undefined;
  /** Undefined for the root of a trace. */
  readonly parentSpanId: string | undefined;
  /** Whether there is a parent and it is of another process. */
  readonly isParentRemote: boolean;
  /** The `tracestate` header of the client; '' for none. */
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
