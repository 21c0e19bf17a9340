import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BODY_KINDS } from '@vitrine/privacy/redaction';
import { BODY_ENDINGS, BODY_PARTS, type CapturedExchange } from './captured-exchange.ts';
import { ExchangeBatch, unpackExchanges } from './exchange-batch.ts';
import { createScopeReader } from './scope-table.ts';
import { OUTCOMES, PROVIDERS } from '@vitrine/traces/trace-values';
import { UPSTREAM_ERRORS } from '@vitrine/traces/upstream-error';

const latin1 = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
/** Without line feeds. */
const id = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
const body = fc.record({
  chunks: fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 3 }),
  bytes: fc.nat(),
  kind: fc.constantFrom(...BODY_KINDS),
  part: fc.constantFrom(...BODY_PARTS),
  ending: fc.constantFrom(...BODY_ENDINGS),
  coding: fc.constantFrom('', 'gzip'),
  facts: fc.constantFrom(undefined, 'undecodable' as const),
});
const exchange: fc.Arbitrary<CapturedExchange> = fc.record({
  provider: fc.constantFrom(...PROVIDERS),
  outcome: fc.constantFrom(...OUTCOMES),
  scope: fc.record({ org_id: id, workspace_id: id, gateway_key_id: id, role: id }),
  method: latin1,
  path: latin1,
  sentStatus: fc.nat(599),
  startedAt: fc.nat(),
  endedAt: fc.nat(),
  latencyUs: fc.nat(),
  firstByteUs: fc.nat(),
  correlationId: latin1,
  otelTraceId: latin1,
  requestHeaders: latin1,
  responseHeaders: latin1,
  responseChunks: fc.nat(),
  secretHeaders: fc.nat(),
  hasLineage: fc.boolean(),
  credential: latin1,
  findings: latin1,
  upstreamError: fc.constantFrom(undefined, ...UPSTREAM_ERRORS),
  upstreamErrorDetail: latin1,
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
      const crossed = [
        ...unpackExchanges(
          structuredClone(packed, { transfer: [packed.bytes.buffer, packed.numbers.buffer] }),
          createScopeReader(),
        ),
      ];
      expect(crossed.map(comparable)).toEqual(exchanges.map(comparable));
    }),
  );
});

test('a batch grows with what it holds', () => {
  const batch = new ExchangeBatch(2, 0);
  const [one] = fc.sample(exchange, 1);
  const large = {
    bytes: 100_000,
    kind: undefined,
    part: 'body' as const,
    coding: '',
    facts: undefined,
    chunks: [new Uint8Array(50_000).fill(1), new Uint8Array(50_000).fill(2)],
  };
  for (let i = 0; i < 2; i += 1) batch.add({ ...(one as CapturedExchange), request: large, response: large });
  expect(batch.bodyBytes).toBe(400_000);
  const hex = [...unpackExchanges(batch.pack(), createScopeReader())].map(({ response }) => joined(response));
  expect(hex).toEqual([joined(large), joined(large)]);
});
