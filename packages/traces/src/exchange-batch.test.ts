import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BODY_KINDS, type CapturedExchange } from './captured-exchange.ts';
import { packExchanges, unpackExchanges } from './exchange-batch.ts';
import { OUTCOMES, PROVIDERS } from './trace.ts';

const body = fc.record({
  chunks: fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 3 }),
  bytes: fc.nat(),
  kind: fc.constantFrom(...BODY_KINDS),
  coding: fc.constantFrom('', 'gzip'),
  facts: fc.constantFrom(undefined, 'undecodable' as const),
});
const exchange: fc.Arbitrary<CapturedExchange> = fc.record({
  provider: fc.constantFrom(...PROVIDERS),
  outcome: fc.constantFrom(...OUTCOMES),
  method: fc.string(),
  path: fc.string(),
  sentStatus: fc.nat(599),
  startedAt: fc.nat(),
  endedAt: fc.nat(),
  latencyUs: fc.nat(),
  firstByteUs: fc.nat(),
  correlationId: fc.string(),
  requestHeaders: fc.string(),
  responseHeaders: fc.string(),
  responseChunks: fc.nat(),
  secretHeaders: fc.nat(),
  hasLineage: fc.boolean(),
  credential: fc.string(),
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
      const crossed = unpackExchanges(structuredClone(packExchanges(exchanges)));
      expect(crossed.map(comparable)).toEqual(exchanges.map(comparable));
    }),
  );
});
