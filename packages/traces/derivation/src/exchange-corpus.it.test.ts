import { describe, expect, test } from '@jest/globals';
import { settledRecord, type BackgroundCreator } from '@vitrine/traces/background-response';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import zlib from 'node:zlib';
import type { CapturedExchange } from './captured-exchange.ts';
import { deriveTrace } from './derive-trace.ts';
import { openPriceCatalogue } from './price-catalogue.ts';
import { StreamingUsageReader } from './streaming-usage-reader.ts';
import { capturedExchange } from './testing/corpus/corpus-exchange.ts';
import { exactValueOf, picoUsdOf } from './testing/corpus/exact-arithmetic.ts';
import { readExchangeCorpus, type CorpusExchange } from './testing/corpus/exchange-corpus.ts';
import { wireBodyOf } from './testing/corpus/wire-body.ts';
import { PLAIN_POLICY } from './testing/plain-exchange.ts';

const context = {
  policy: PLAIN_POLICY,
  privacy: openPrivacyContext(PLAIN_POLICY.privacy),
  prices: openPriceCatalogue(),
  cpuMs: () => 0,
};
const corpus = readExchangeCorpus();

type Figures = Readonly<Record<string, string | number>>;

/** As a store settles it: usage that is read back counts once, if it was created before. */
function settled(record: TraceRecord, created: Map<string, BackgroundCreator | undefined>): TraceRecord {
  const { background, batch_files: files = [] } = record;
  for (const { batch, file } of files) {
    const creator = created.get(batch);
    if (creator !== undefined && !created.has(file)) created.set(file, creator);
  }
  if (background === undefined) return record;
  if (background.role === 'created') {
    created.set(background.response, record);
    return record;
  }
  const creator = created.get(background.response);
  created.set(background.response, undefined);
  return settledRecord(record, creator);
}

/** `created`: what earlier exchanges of the case created. */
function figuresOf(exchange: CapturedExchange, created = new Map<string, BackgroundCreator | undefined>()): Figures {
  const record = settled(deriveTrace(exchange, context, new Uint8Array(16)), created);
  const metadata = JSON.parse(record.metadata) as Readonly<Record<string, number | undefined>>;
  return {
    model: metadata['response_model'] ?? record.model,
    usage: record.usage_status,
    cost: record.cost_status,
    usd: String(picoOf(record.estimated_cost_usd)),
    input: record.input_tokens,
    output: record.output_tokens,
    total: record.total_tokens,
    cached: metadata['cached_input_tokens'] ?? 0,
    cacheWrite: metadata['cache_write_input_tokens'] ?? 0,
    reasoning: metadata['reasoning_tokens'] ?? 0,
  };
}

function picoOf(usd: number): bigint {
  return BigInt(Math.round(usd * 1e12));
}

function expectedFigures({ expected }: CorpusExchange): Figures {
  const { model, usage, cost, usd, tokens } = expected;
  const { input, output, total, cached, cache_write: cacheWrite, reasoning } = tokens;
  const pico = String(picoUsdOf(exactValueOf(usd)));
  // Estimated counts are bounded by the upper bound instead.
  if (usage === 'estimated') return { model, usage, cost, usd: pico };
  return { model, usage, cost, usd: pico, input, output, total, cached, cacheWrite, reasoning };
}

test('every exchange of the corpus has the tokens, the price and the statuses that were worked out by hand', () => {
  const compared = corpus.flatMap(({ name, exchanges }) => {
    const created = new Map<string, BackgroundCreator | undefined>();
    return exchanges.map((exchange) => ({
      name,
      found: figuresOf(capturedExchange(exchange), created),
      expected: expectedFigures(exchange),
    }));
  });
  expect(compared.map(({ name, found }) => ({ name, ...found }))).toEqual(
    compared.map(({ name, expected, found }) => ({ name, ...found, ...expected })),
  );
});

test('the upper bound of an exchange is what was worked out by hand, or more', () => {
  for (const { name, exchanges } of corpus) {
    for (const exchange of exchanges) {
      const upper = deriveTrace(capturedExchange(exchange), context, new Uint8Array(16)).cost_upper_usd ?? 0;
      const { upper_at_least: least = '0', upper_at_most: most } = exchange.expected;
      expect({ name, isCovered: picoOf(upper) >= picoUsdOf(exactValueOf(least)) }).toEqual({ name, isCovered: true });
      const isTight = most === undefined || picoOf(upper) <= picoUsdOf(exactValueOf(most));
      expect({ name, isTight }).toEqual({ name, isTight: true });
    }
  }
});

describe('the figures of a response do not depend on', () => {
  const responses = corpus.flatMap(({ name, exchanges }) => exchanges.map((exchange) => ({ name, exchange })));
  const sent = (exchange: CorpusExchange) => wireBodyOf(exchange.response).bytes;

  test.each([1, 7, 64])('cuts into chunks of %i bytes as it passes', (size) => {
    for (const { name, exchange } of responses) {
      const captured = capturedExchange(exchange);
      const { kind, bytes, ending } = captured.response;
      const reader = new StreamingUsageReader({ kind, coding: '' }, () => undefined);
      for (let at = 0; at < bytes; at += size) reader.push(sent(exchange).subarray(at, at + size));
      const response = { ...captured.response, chunks: [], facts: reader.facts(ending !== 'cut') };
      const found = figuresOf({ ...captured, response });
      // Without the text, its tokens are bounded by its size.
      const { input, output, total } = found as Record<string, unknown>;
      const known = found['usage'] === 'estimated' ? { input, output, total } : {};
      expect({ name, ...found }).toEqual({ name, ...figuresOf(captured), ...known });
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
