import type { EndedSpan, SpanOrigin, SpanSink } from './ended-span.ts';
import { bytesField, fieldHead } from '../protobuf/fields.ts';
import { SpanWriter } from './span-writer.ts';
import { BATCH_DELAY_MS, MAX_BATCH_SPANS, MAX_PENDING_SPANS, type SpanCounts } from './span-bounds.ts';

/** An OTLP export request, written out, and how many spans are in it. */
export interface PackedSpans {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Exports under way at once; more wait. */
const MAX_EXPORTS_UNDER_WAY = 4;
/** Ended spans that are held as objects. */
const MAX_UNWRITTEN = 64;

// Numbers of the fields on the way from a request to its spans. Source: opentelemetry-proto, trace.proto.
const RESOURCE_SPANS = 1;
const RESOURCE = 1;
const SCOPE_SPANS = 2;
const SCOPE = 1;
const SPANS = 2;

/** Writes ended spans into a request, 64 in one go: written one by one between the work for requests, each took 1 µs more, because caches
 *  then held something else; held for a whole request, many outlived the young generation and had to be collected with the old one. While a
 *  collector is slow or away, spans are dropped and counted instead of held. `send` rejects for what the collector did not take. */
export class PackedSpanSink implements SpanSink {
  readonly #send: (spans: PackedSpans) => Promise<void>;
  readonly #counts: SpanCounts;
  readonly #writer = new SpanWriter();
  readonly #resource: Uint8Array;
  readonly #scope: Uint8Array;
  /** Spans of the next request that are not written yet, */
  #ended: EndedSpan[] = [];
  /** and how many are. */
  #written = 0;
  /** Requests that wait to be sent, oldest first. */
  readonly #waiting: PackedSpans[] = [];
  #pending = 0;
  #underWay = 0;
  #isEnded = false;
  #timer: NodeJS.Timeout | undefined;
  #idle = Promise.withResolvers<void>();

  constructor(send: (spans: PackedSpans) => Promise<void>, counts: SpanCounts, { resource, scope }: SpanOrigin) {
    this.#send = send;
    this.#counts = counts;
    this.#writer.attributes(
      1,
      Object.entries(resource.attributes).flatMap(([name, value]) => [name, String(value)]),
    );
    this.#resource = bytesField(RESOURCE, this.#writer.take());
    this.#writer.text(1, scope.name);
    this.#writer.text(2, scope.version ?? '');
    this.#scope = bytesField(SCOPE, this.#writer.take());
  }

  add(span: EndedSpan): void {
    if (this.#isEnded) return;
    if (this.#pending >= MAX_PENDING_SPANS) {
      this.#counts.dropped += 1;
      return;
    }
    this.#pending += 1;
    this.#ended.push(span);
    if (this.#ended.length >= MAX_UNWRITTEN) this.#write();
    if (this.#written >= MAX_BATCH_SPANS) this.#close();
    else this.#timer ??= setTimeout(() => this.#close(), BATCH_DELAY_MS).unref();
  }

  async shutdown(): Promise<void> {
    this.#isEnded = true;
    this.#close();
    if (this.#pending > 0) await this.#idle.promise;
  }

  #write(): void {
    const ended = this.#ended;
    this.#ended = [];
    for (const span of ended) this.#writer.span(SPANS, span);
    this.#written += ended.length;
  }

  /** Makes a request of the spans that have ended so far. */
  #close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#write();
    const count = this.#written;
    if (count > 0) {
      this.#written = 0;
      const spans = this.#writer.take();
      const scopeSpans = fieldHead(SCOPE_SPANS, this.#scope.length + spans.length);
      const length = this.#resource.length + scopeSpans.length + this.#scope.length + spans.length;
      const bytes = Buffer.concat([fieldHead(RESOURCE_SPANS, length), this.#resource, scopeSpans, this.#scope, spans]);
      this.#waiting.push({ bytes, count });
    }
    this.#start();
  }

  #start(): void {
    while (this.#underWay < MAX_EXPORTS_UNDER_WAY) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#underWay += 1;
      this.#send(next).then(
        () => this.#sent(next.count, 'exported'),
        () => this.#sent(next.count, 'failed'),
      );
    }
  }

  #sent(count: number, result: 'exported' | 'failed'): void {
    this.#counts[result] += count;
    this.#pending -= count;
    this.#underWay -= 1;
    this.#start();
    if (this.#pending > 0) return;
    this.#idle.resolve();
    this.#idle = Promise.withResolvers<void>();
  }
}
