import { describe, expect, test } from '@jest/globals';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { readFileSync } from 'node:fs';
import zlib from 'node:zlib';
import type { CapturedExchange } from './captured-exchange.ts';
import { deriveTrace } from './derive-trace.ts';
import { openPriceCatalogue } from './price-catalogue.ts';
import { StreamingUsageReader } from './streaming-usage-reader.ts';
import { capturedExchange } from './testing/corpus/corpus-exchange.ts';
import { exactValueOf, picoUsdOf } from './testing/corpus/exact-arithmetic.ts';
import { readExchangeCorpus, type CorpusCase, type CorpusExchange } from './testing/corpus/exchange-corpus.ts';
import { wireBodyOf } from './testing/corpus/wire-body.ts';
import { PLAIN_POLICY } from './testing/plain-exchange.ts';

const context = {
  policy: PLAIN_POLICY,
  privacy: openPrivacyContext(PLAIN_POLICY.privacy),
  prices: openPriceCatalogue(),
  cpuMs: () => 0,
};
/** Cases that the reader does not match yet. A case that it matches has to leave the list. */
const OPEN = new Set(
  readFileSync(new URL('../testdata/exchange-corpus/open-cases.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter(Boolean),
);
const corpus = readExchangeCorpus();
const closed = corpus.filter(({ name }) => !OPEN.has(name));

type Figures = Readonly<Record<string, string | number>>;

function figuresOf(exchange: CapturedExchange): Figures {
  const record = deriveTrace(exchange, context, new Uint8Array(16));
  const metadata = JSON.parse(record.metadata) as Readonly<Record<string, number | undefined>>;
  return {
    model: metadata['response_model'] ?? record.model,
    usage: record.usage_status,
    cost: record.cost_status,
    usd: String(BigInt(Math.round(record.estimated_cost_usd * 1e12))),
    input: record.input_tokens,
    output: record.output_tokens,
    total: record.total_tokens,
    cached: metadata['cached_input_tokens'] ?? 0,
    cacheWrite: metadata['cache_write_input_tokens'] ?? 0,
    reasoning: metadata['reasoning_tokens'] ?? 0,
  };
}

function expectedFigures({ expected }: CorpusExchange): Figures {
  const { model, usage, cost, usd, tokens } = expected;
  const { input, output, total, cached, cache_write: cacheWrite, reasoning } = tokens;
  const pico = String(picoUsdOf(exactValueOf(usd)));
  // Estimated counts are bounded by the upper bound instead.
  if (usage === 'estimated') return { model, usage, cost, usd: pico };
  return { model, usage, cost, usd: pico, input, output, total, cached, cacheWrite, reasoning };
}

function isMatched({ exchanges }: CorpusCase): boolean {
  return exchanges.every((exchange) => {
    const figures = figuresOf(capturedExchange(exchange));
    return Object.entries(expectedFigures(exchange)).every(([name, figure]) => figures[name] === figure);
  });
}

test('every exchange of the corpus has the tokens, the price and the statuses that were worked out by hand', () => {
  const compared = closed.flatMap(({ name, exchanges }) =>
    exchanges.map((exchange) => ({ name, found: figuresOf(capturedExchange(exchange)), expected: expectedFigures(exchange) })),
  );
  expect(compared.map(({ name, found }) => ({ name, ...found }))).toEqual(
    compared.map(({ name, expected, found }) => ({ name, ...found, ...expected })),
  );
});

test('a case that the reader matches is not listed as open, and every open case exists', () => {
  expect(corpus.filter((one) => OPEN.has(one.name) && isMatched(one)).map(({ name }) => name)).toEqual([]);
  expect([...OPEN].filter((name) => !corpus.some((one) => one.name === name))).toEqual([]);
});

describe('the figures of a response do not depend on', () => {
  const responses = closed.flatMap(({ name, exchanges }) => exchanges.map((exchange) => ({ name, exchange })));
  const sent = (exchange: CorpusExchange) => wireBodyOf(exchange.response).bytes;

  test.each([1, 7, 64])('cuts into chunks of %i bytes as it passes', (size) => {
    for (const { name, exchange } of responses) {
      const captured = capturedExchange(exchange);
      const { kind, bytes, ending } = captured.response;
      const reader = new StreamingUsageReader(kind, '', () => undefined);
      for (let at = 0; at < bytes; at += size) reader.push(sent(exchange).subarray(at, at + size));
      const response = { ...captured.response, chunks: [], facts: reader.facts(ending !== 'cut') };
      expect({ name, ...figuresOf({ ...captured, response }) }).toEqual({ name, ...figuresOf(captured) });
    }
  });

  test.each<[string, (body: Uint8Array) => Buffer<ArrayBuffer>]>([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', (body) => zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ['zstd', zlib.zstdCompressSync],
  ])('the content coding %s', (coding, encode) => {
    for (const { name, exchange } of responses) {
      const found = figuresOf(capturedExchange(exchange, { coding, chunks: [encode(sent(exchange))] }));
      expect({ name, ...found }).toEqual({ name, ...figuresOf(capturedExchange(exchange)) });
    }
  });
});
