import { describe, expect, test } from '@jest/globals';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type HrTime,
} from '@opentelemetry/api';
import { TraceState } from '@opentelemetry/core';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOffSampler, TracerProvider, type ReadableSpan, type SpanProcessor } from '@opentelemetry/sdk-trace';
import { decodeSpans } from '@vitrine/testkit/collected-telemetry';
import fc from 'fast-check';
import { PackedSpanProcessor, type PackedSpans } from './packed-span-processor.ts';
import { MAX_BATCH_SPANS, MAX_PENDING_SPANS } from './span-bounds.ts';

interface Sketch {
  readonly name: string;
  readonly attributes: Attributes;
  readonly message: string | undefined;
  readonly hasParent: boolean;
  readonly hasEvent: boolean;
  readonly hasState: boolean;
  readonly startTime: HrTime;
}

const value = fc.oneof(fc.string({ maxLength: 200, unit: 'binary' }), fc.integer(), fc.double({ noNaN: true }), fc.boolean());
const sketch: fc.Arbitrary<Sketch> = fc.record({
  name: fc.string({ maxLength: 200, unit: 'binary' }),
  attributes: fc.dictionary(fc.string({ minLength: 1, maxLength: 40 }), fc.oneof(value, fc.array(fc.string(), { maxLength: 3 }))),
  message: fc.option(fc.string({ maxLength: 300, unit: 'binary' }), { nil: undefined }),
  hasParent: fc.boolean(),
  hasEvent: fc.boolean(),
  hasState: fc.boolean(),
  startTime: fc.tuple(fc.nat({ max: 4_000_000_000 }), fc.nat({ max: 999_999_999 })),
});

/** Ends a span for each sketch in front of `processors`. */
function endAll(sketches: readonly Sketch[], ...processors: SpanProcessor[]): void {
  const resource = resourceFromAttributes({ 'service.name': 'svc-gateway', 'service.version': '1' });
  const tracer = new TracerProvider({ resource, spanProcessors: processors }).getTracer('scope', '1.0');
  for (const { name, attributes, message, hasParent, hasEvent, hasState, startTime } of sketches) {
    const span = tracer.startSpan(
      name,
      { kind: SpanKind.SERVER, attributes, startTime },
      hasParent ? remoteParent(hasState) : ROOT_CONTEXT,
    );
    if (message !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message });
    if (hasEvent) span.addEvent('event', { at: 1 });
    span.end([startTime[0] + 1, startTime[1]]);
  }
}

/** A processor that keeps the spans. */
function keeping(spans: ReadableSpan[]): SpanProcessor {
  return { onStart() {}, onEnd: (span) => void spans.push(span), forceFlush: async () => {}, shutdown: async () => {} };
}

function remoteParent(hasState: boolean): Context {
  const state = hasState ? { traceState: new TraceState('a=1') } : {};
  const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
  return trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags: TraceFlags.SAMPLED, isRemote: true, ...state });
}

const decoded = (requests: readonly (Uint8Array | undefined)[]) =>
  requests
    .flatMap((bytes) => decodeSpans(bytes ?? new Uint8Array(), 'protobuf'))
    .toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1));
const plain: Sketch = {
  name: 'x',
  attributes: {},
  message: undefined,
  hasParent: false,
  hasEvent: false,
  hasState: false,
  startTime: [1, 2],
};
const counts = () => ({ exported: 0, failed: 0, dropped: 0 });

async function expectSame(sketches: readonly Sketch[]): Promise<void> {
  const sent: PackedSpans[] = [];
  const spans: ReadableSpan[] = [];
  const packed = new PackedSpanProcessor(async (one) => void sent.push(one), counts());
  endAll(sketches, packed, keeping(spans));
  await packed.forceFlush();
  expect(decoded(sent.map(({ bytes }) => bytes))).toEqual(decoded([ProtobufTraceSerializer.serializeRequest(spans)]));
  expect(sent.reduce((sum, { count }) => sum + count, 0)).toBe(sketches.length);
}

describe('PackedSpanProcessor', () => {
  test('a collector reads the same spans as from the stock serializer', async () => {
    await fc.assert(fc.asyncProperty(fc.array(sketch, { maxLength: 12 }), expectSame), { numRuns: 100 });
  });

  test('spans that are larger than the first buffer are written whole', async () => {
    const long = { ...plain, name: 'x'.repeat(100), attributes: { text: 'é'.repeat(5_000) }, message: 'm'.repeat(20_000) };
    await expectSame(Array.from({ length: 40 }, () => ({ ...long, hasParent: true })));
  });

  test('a full batch leaves at once, spans of two scopes leave apart', async () => {
    const sent: number[] = [];
    const packed = new PackedSpanProcessor(async ({ count }) => void sent.push(count), counts());
    endAll(
      Array.from({ length: MAX_BATCH_SPANS + 1 }, () => plain),
      packed,
    );
    expect(sent).toEqual([MAX_BATCH_SPANS]);
    endAll([plain], packed);
    await packed.shutdown();
    expect(sent).toEqual([MAX_BATCH_SPANS, 1, 1]);
  });

  test('what a collector does not take is held up to a bound, then dropped; every span is counted once', async () => {
    const answers: PromiseWithResolvers<void>[] = [];
    const tally = counts();
    const packed = new PackedSpanProcessor(() => {
      answers.push(Promise.withResolvers<void>());
      return (answers.at(-1) as PromiseWithResolvers<void>).promise;
    }, tally);
    endAll(
      Array.from({ length: MAX_PENDING_SPANS + 5 }, () => plain),
      packed,
    );
    expect(answers).toHaveLength(4);
    expect(tally).toEqual({ exported: 0, failed: 0, dropped: 5 });
    const flushed = packed.forceFlush();
    for (let at = 0; at < MAX_PENDING_SPANS / MAX_BATCH_SPANS; at += 1) {
      if (at === 0) answers[at]?.reject(new Error('gone'));
      else answers[at]?.resolve();
      await new Promise(setImmediate);
    }
    await flushed;
    expect(tally).toEqual({ exported: MAX_PENDING_SPANS - MAX_BATCH_SPANS, failed: MAX_BATCH_SPANS, dropped: 5 });
  });

  test('a credential is not written', async () => {
    const sent: PackedSpans[] = [];
    const packed = new PackedSpanProcessor(async (one) => void sent.push(one), counts());
    const canary = 'sk-proj-canary0123456789';
    endAll([{ ...plain, name: canary, attributes: { list: [canary], map: { inner: canary } }, message: canary }], packed);
    await packed.shutdown();
    expect(Buffer.concat(sent.map(({ bytes }) => bytes)).includes('canary')).toBe(false);
    expect(sent).toHaveLength(1);
  });

  test('an unsampled span is not exported', async () => {
    const tally = counts();
    const packed = new PackedSpanProcessor(() => Promise.reject(new Error('sent')), tally);
    const tracer = new TracerProvider({ sampler: new AlwaysOffSampler(), spanProcessors: [packed] }).getTracer('scope');
    tracer.startSpan('x').end();
    await packed.shutdown();
    expect(tally).toEqual(counts());
  });
});
