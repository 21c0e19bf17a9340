import type { Attributes, Link, SpanContext } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter, TimedEvent } from '@opentelemetry/sdk-trace';
import { scrub } from '../scrub.ts';

/** Exports through `inner`, and lets no credential pass: names, status messages, attributes, events, links and the trace state that a
 *  client sent. `onDone` is told of every batch. Spec: gateway, Credential scrubbing. */
export class ScrubbingSpanExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #onDone: (spans: number, isExported: boolean) => void;

  constructor(inner: SpanExporter, onDone: (spans: number, isExported: boolean) => void) {
    this.#inner = inner;
    this.#onDone = onDone;
  }

  export(spans: ReadableSpan[], callback: (result: ExportResult) => void): void {
    let isDone = false;
    const done = (result: ExportResult) => {
      if (isDone) return;
      isDone = true;
      this.#onDone(spans.length, result.code === ExportResultCode.SUCCESS);
      callback(result);
    };
    try {
      this.#inner.export(spans.map(scrubSpan), done);
    } catch (error) {
      done({ code: ExportResultCode.FAILED, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }
}

/** The span itself when it holds no credential, as nearly all do; else a view of it without. */
export function scrubSpan(span: ReadableSpan): ReadableSpan {
  const name = scrub(span.name).text;
  const status = scrubMessage(span.status);
  const attributes = scrubAttributes(span.attributes);
  const events = scrubAll(span.events, scrubEvent);
  const links = scrubAll(span.links, scrubLink);
  const context = scrubContext(span.spanContext());
  const isClean =
    name === span.name &&
    status === span.status &&
    attributes === span.attributes &&
    events === span.events &&
    links === span.links &&
    context === span.spanContext();
  if (isClean) return span;
  const values = { name, status, attributes, events, links, spanContext: () => context };
  return Object.create(span, Object.getOwnPropertyDescriptors(values)) as ReadableSpan;
}

function scrubMessage(status: ReadableSpan['status']): ReadableSpan['status'] {
  if (status.message === undefined) return status;
  const message = scrub(status.message).text;
  return message === status.message ? status : { ...status, message };
}

/** The same object when nothing in it changes. */
function scrubAttributes(attributes: Attributes): Attributes {
  let scrubbed: Attributes | undefined;
  for (const key in attributes) {
    const value = attributes[key];
    const clean = scrubValue(value);
    if (clean === value) continue;
    scrubbed ??= { ...attributes };
    scrubbed[key] = clean;
  }
  return scrubbed ?? attributes;
}

/** Values may be lists and maps of values. */
function scrubValue<T>(value: T): T;
function scrubValue(value: unknown): unknown {
  if (typeof value === 'string') return scrub(value).text;
  if (Array.isArray(value)) return scrubAll<unknown>(value, scrubValue);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return scrubAttributes(value as Attributes);
}

function scrubAll<T>(items: T[], scrubOne: (item: T) => T): T[] {
  if (items.length === 0) return items;
  const clean = items.map(scrubOne);
  return clean.every((item, index) => item === items[index]) ? items : clean;
}

function scrubEvent(event: TimedEvent): TimedEvent {
  const name = scrub(event.name).text;
  const attributes = event.attributes === undefined ? undefined : scrubAttributes(event.attributes);
  if (name === event.name && attributes === event.attributes) return event;
  return { ...event, name, ...(attributes === undefined ? {} : { attributes }) };
}

function scrubLink(link: Link): Link {
  const attributes = link.attributes === undefined ? undefined : scrubAttributes(link.attributes);
  const context = scrubContext(link.context);
  if (attributes === link.attributes && context === link.context) return link;
  return { ...link, context, ...(attributes === undefined ? {} : { attributes }) };
}

/** A trace state is somebody else's text; one that holds a credential is left out as a whole. */
function scrubContext(context: SpanContext): SpanContext {
  const state = context.traceState?.serialize() ?? '';
  if (state === '' || scrub(state).count === 0) return context;
  const { traceState: _, ...rest } = context;
  return rest;
}
