import { describe, expect, test } from '@jest/globals';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { decodeSpans } from '@vitrine/testkit/collected-telemetry';
import fc from 'fast-check';
import type { EndedSpan, SpanOrigin, SpanShape } from './ended-span.ts';
import { PackedSpanSink, type PackedSpans } from './packed-span-sink.ts';
import { RandomIds } from './random-ids.ts';
import { readableSpan } from './readable-span.ts';
import { MAX_BATCH_SPANS, MAX_PENDING_SPANS } from './span-bounds.ts';

const ORIGIN: SpanOrigin = {
  resource: resourceFromAttributes({ 'service.name': 'svc-orders', 'service.version': '1' }),
  scope: { name: 'scope', version: '1.0' },
};
const CANARY = 'sk-proj-canary0123456789';

const digits = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes).toString('hex'));
const text = (maxLength: number) => fc.string({ maxLength, unit: 'binary' });
const attribute = fc.tuple(fc.stringMatching(/^[a-z.]{1,40}$/), fc.oneof(text(200), fc.integer(), fc.double({ noNaN: true })));
const attributes = (maxLength: number) =>
  fc.uniqueArray(attribute, { selector: ([name]) => name, maxLength }).map((pairs) => pairs.flat());
const shape: fc.Arbitrary<SpanShape> = fc.record({
  name: text(200),
  kind: fc.constantFrom('internal', 'server', 'client'),
  attributes: attributes(8),
  failure: fc.option(text(300), { nil: undefined }),
});
const ended = fc
  .record({
    shape,
    own: attributes(2),
    traceId: digits(16),
    spanId: digits(8),
    parentSpanId: fc.option(digits(8), { nil: undefined }),
    isParentRemote: fc.boolean(),
    traceState: fc.constantFrom('', 'a=1', 'a=1,b=2', `vendor=${CANARY}`),
    startedAt: fc.double({ min: 0, max: 4e12, noNaN: true }),
    endedAt: fc.double({ min: 0, max: 4e12, noNaN: true }),
  })
  .map((span): EndedSpan => ({ ...span, isParentRemote: span.isParentRemote && span.parentSpanId !== undefined }));

const decoded = (requests: readonly (Uint8Array | undefined)[]) =>
  requests.flatMap((bytes) => decodeSpans(bytes ?? new Uint8Array(), 'protobuf'));
const plain: EndedSpan = {
  shape: { name: 'x', kind: 'internal', attributes: [], failure: undefined },
  own: [],
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: undefined,
  isParentRemote: false,
  traceState: '',
  startedAt: 1_000.5,
  endedAt: 2_000,
};
const counts = () => ({ exported: 0, failed: 0, dropped: 0 });

async function expectSame(spans: readonly EndedSpan[]): Promise<void> {
  const sent: PackedSpans[] = [];
  const packed = new PackedSpanSink(async (one) => void sent.push(one), counts(), ORIGIN);
  for (const span of spans) packed.add(span);
  await packed.shutdown();
  const ids = new RandomIds();
  const stock = ProtobufTraceSerializer.serializeRequest(spans.map((span) => readableSpan(span, ORIGIN, ids)));
  expect(decoded(sent.map(({ bytes }) => bytes))).toEqual(decoded([stock]));
  expect(sent.reduce((sum, { count }) => sum + count, 0)).toBe(spans.length);
}

describe('PackedSpanSink', () => {
  test('a collector reads the same spans as from the stock serializer, also of shapes and ids that came before', async () => {
    const twice = (spans: readonly EndedSpan[]) =>
      expectSame([...spans, ...spans.map((span) => ({ ...span, own: ['more', 1] }))]);
    await fc.assert(fc.asyncProperty(fc.array(ended, { maxLength: 12 }), twice), { numRuns: 100 });
  });

  test('a span without an id gets one of its own', async () => {
    const sent: PackedSpans[] = [];
    const packed = new PackedSpanSink(async (one) => void sent.push(one), counts(), ORIGIN);
    for (let added = 0; added < 2_000; added += 1) packed.add({ ...plain, spanId: undefined });
    await packed.shutdown();
    const ids = decoded(sent.map(({ bytes }) => bytes)).map(({ spanId }) => spanId);
    expect(new Set(ids).size).toBe(2_000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  test('spans that are larger than the first buffer are written whole', async () => {
    const long = { name: 'x'.repeat(100), attributes: ['text', 'é'.repeat(5_000)], failure: 'm'.repeat(20_000) };
    const own = ['own', 'ü'.repeat(5_000)];
    await expectSame(Array.from({ length: 40 }, () => ({ ...plain, shape: { ...plain.shape, ...long }, own })));
  });

  test('a full batch leaves at once, the rest when it ends', async () => {
    const sent: number[] = [];
    const packed = new PackedSpanSink(async ({ count }) => void sent.push(count), counts(), ORIGIN);
    for (let added = 0; added <= MAX_BATCH_SPANS; added += 1) packed.add(plain);
    expect(sent).toEqual([MAX_BATCH_SPANS]);
    await packed.shutdown();
    expect(sent).toEqual([MAX_BATCH_SPANS, 1]);
    packed.add(plain);
    await packed.shutdown();
    expect(sent).toEqual([MAX_BATCH_SPANS, 1]);
  });

  test('what a collector does not take is held up to a bound, then dropped; every span is counted once', async () => {
    const exports: PromiseWithResolvers<void>[] = [];
    const tally = counts();
    const send = () => {
      exports.push(Promise.withResolvers<void>());
      return (exports.at(-1) as PromiseWithResolvers<void>).promise;
    };
    const packed = new PackedSpanSink(send, tally, ORIGIN);
    for (let added = 0; added < MAX_PENDING_SPANS + 5; added += 1) packed.add(plain);
    expect(exports).toHaveLength(4);
    expect(tally).toEqual({ exported: 0, failed: 0, dropped: 5 });
    const flushed = packed.shutdown();
    for (let at = 0; at < MAX_PENDING_SPANS / MAX_BATCH_SPANS; at += 1) {
      if (at === 0) exports[at]?.reject(new Error('gone'));
      else exports[at]?.resolve();
      await new Promise(setImmediate);
    }
    await flushed;
    expect(tally).toEqual({ exported: MAX_PENDING_SPANS - MAX_BATCH_SPANS, failed: MAX_BATCH_SPANS, dropped: 5 });
  });

  test('a credential is not written', async () => {
    const sent: PackedSpans[] = [];
    const packed = new PackedSpanSink(async (one) => void sent.push(one), counts(), ORIGIN);
    const texts = { name: CANARY, attributes: ['text', `a ${CANARY}`], failure: CANARY };
    packed.add({ ...plain, shape: { ...plain.shape, ...texts }, own: ['own', CANARY], traceState: `vendor=${CANARY}` });
    await packed.shutdown();
    expect(Buffer.concat(sent.map(({ bytes }) => bytes)).includes('canary')).toBe(false);
    expect(sent).toHaveLength(1);
  });
});
