import { expect, test } from '@jest/globals';
import { anyCharacter } from '@vitrine/testkit/testing/any-character';
import fc from 'fast-check';
import { BODY_KINDS } from '@vitrine/privacy/redaction';
import { NO_FACTS } from './body-facts.ts';
import type { CapturedExchange } from './captured-exchange.ts';
import { ExchangeBatch, unpackExchanges } from './exchange-batch.ts';
import { OUTCOMES, PROVIDERS } from '@vitrine/traces/trace-values';
import { UPSTREAM_ERRORS } from '@vitrine/traces/upstream-error';

const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) }),
);
const body = fc.record({
  chunks: fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 3 }),
  bytes: fc.nat(),
  kind: fc.constantFrom(...BODY_KINDS),
  ending: fc.constantFrom(undefined, 'whole' as const, 'open' as const, 'cut' as const),
  coding: fc.constantFrom('', 'gzip'),
  boundary: fc.constantFrom(undefined, 'b'),
  facts: fc.constantFrom(undefined, 'undecodable' as const, {
    ...NO_FACTS,
    model: 'm',
    ended: true,
    details: { background: true, size: '1024x1024' },
    response: { id: 'r', isFinished: false, background: true },
  }),
});
const exchange: fc.Arbitrary<CapturedExchange> = fc.record({
  provider: fc.constantFrom(...PROVIDERS),
  outcome: fc.constantFrom(...OUTCOMES),
  scope: fc.record({ org_id: text, workspace_id: text, gateway_key_id: text, role: text }),
  method: text,
  path: text,
  sentStatus: fc.nat(599),
  startedAt: fc.nat(),
  endedAt: fc.nat(),
  latencyUs: fc.nat(),
  firstByteUs: fc.nat(),
  correlationId: text,
  otelTraceId: text,
  requestHeaders: text,
  responseHeaders: text,
  responseChunks: fc.nat(),
  chunkTimes: fc.option(fc.array(fc.tuple(fc.nat(), fc.nat())), { nil: undefined }),
  secretHeaders: fc.nat(),
  hasLineage: fc.boolean(),
  credential: text,
  findings: text,
  upstreamError: fc.constantFrom(undefined, ...UPSTREAM_ERRORS),
  upstreamErrorDetail: text,
  retries: fc.nat(2),
  request: body,
  response: body,
});

const joined = ({ chunks }: CapturedExchange['request']) => Buffer.concat(chunks).toString('hex');
const comparable = (one: CapturedExchange) => ({
  ...one,
  request: { ...one.request, chunks: joined(one.request) },
  response: { ...one.response, chunks: joined(one.response) },
});

test('exchanges cross a thread boundary unchanged', () => {
  fc.assert(
    fc.property(fc.array(exchange, { maxLength: 5 }), (exchanges) => {
      const batch = new ExchangeBatch(exchanges.length, 0);
      for (const one of exchanges) batch.add(one);
      expect([batch.count, batch.isFull]).toEqual([exchanges.length, true]);
      const packed = batch.pack();
      const crossed = [...unpackExchanges(structuredClone(packed, { transfer: [packed.bytes.buffer] }))];
      expect(crossed.map(comparable)).toEqual(exchanges.map(comparable));
    }),
  );
});

test('a batch grows with its content', () => {
  const batch = new ExchangeBatch(2, 0);
  const [one] = fc.sample(exchange, 1);
  const large = {
    bytes: 100_000,
    kind: undefined,
    coding: '',
    facts: undefined,
    chunks: [new Uint8Array(50_000).fill(1), new Uint8Array(50_000).fill(2)],
  };
  for (let i = 0; i < 2; i += 1) batch.add({ ...(one as CapturedExchange), request: large, response: large });
  expect(batch.bodyBytes).toBe(400_000);
  const hex = [...unpackExchanges(batch.pack())].map(({ response }) => joined(response));
  expect(hex).toEqual([joined(large), joined(large)]);
});
