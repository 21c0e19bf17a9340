import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices';
import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { openPriceCatalogue, type PriceCatalogue } from './price-catalogue.ts';
import { parsePriceOverride } from './price-override.ts';
import type { Provider } from '@vitrine/traces/trace';
import { costOf, totalOf } from './price-rates.ts';
import { MODEL_PRICES, ONE } from './price-supplement.ts';
import { NO_TOKENS, type TokenCounts } from './token-counts.ts';

const NOW = new Date('2026-09-25T12:00:00Z');
const catalogue = openPriceCatalogue();
/** What the counts cost at list prices, in US dollars. */
function costIn(prices: PriceCatalogue, provider: Provider, model: string, counts: Partial<TokenCounts>, at: Date = NOW) {
  const rates = prices.rates(provider, model, at);
  return rates && Math.round(totalOf(costOf(rates, { ...NO_TOKENS, ...counts }, 0, ONE))) / 1e12;
}

const PRICED = ['openai', 'anthropic'] as const;

const isSupplemented = (id: string) => MODEL_PRICES.some(({ match }) => match.test(id));

/** Ids that the library accepts for this model: its own, and those of its rules. */
function idsOf(model: ModelInfo): string[] {
  const rules = 'or' in model.match ? model.match.or : [model.match];
  const named = rules.flatMap((rule) => {
    if ('equals' in rule) return [rule.equals];
    return 'starts_with' in rule ? [rule.starts_with, `${rule.starts_with}-2026-01-02`] : [];
  });
  const ids = [model.id, ...named, ...named.map((id) => `${id}-20260102`), ...named.map((id) => id.toUpperCase())];
  return ids.filter((id) => !isSupplemented(id));
}

const tokens = fc.oneof(fc.nat(2_000), fc.nat(600_000), fc.constantFrom(0, 1, 200_000, 200_001, 271_999, 272_000, 272_001));
const usage = fc
  .record({
    plain: tokens,
    cached: tokens,
    write: tokens,
    hour: tokens,
    audio: tokens,
    image: tokens,
    output: tokens,
    audioOut: tokens,
  })
  .map(({ plain, cached, write, hour, audio, image, output, audioOut }): TokenCounts => {
    const input = plain + cached + write + hour + audio + image;
    const written = { cacheWrite: write + hour, cacheWrite1h: hour };
    return { ...NO_TOKENS, ...written, input, output: output + audioOut, cached, audioIn: audio, audioOut, imageIn: image };
  });

function libraryCost(provider: string, model: string, one: TokenCounts, at: Date): number | undefined {
  const counted = {
    input_tokens: one.input,
    output_tokens: one.output,
    cache_read_tokens: one.cached,
    cache_write_tokens: one.cacheWrite,
    cache_write_1h_tokens: one.cacheWrite1h,
    input_audio_tokens: one.audioIn,
    output_audio_tokens: one.audioOut,
    input_image_tokens: one.imageIn,
    cache_audio_read_tokens: 0,
    cache_image_read_tokens: 0,
  };
  return calcPrice(counted, model, { providerId: provider, timestamp: at })?.total_price;
}

const EVERY_MODEL = PRICED.flatMap((provider) =>
  (findProvider({ providerId: provider })?.models ?? []).map((model) => [provider, model.id, model] as const),
);
const HOURLY = ['gpt-transcribe', 'whisper-1'];
/** There are more than 100 models. */
const RUNS_OF_EACH_MODEL = propertyRuns(300) / 5;

describe('the catalogue against its library', () => {
  test.each(EVERY_MODEL.filter(([, id]) => !HOURLY.includes(id) && !isSupplemented(id)))(
    '%s %s costs the same',
    (provider, _id, model) => {
      const ids = fc.constantFrom(...idsOf(model));
      const at = fc.constantFrom(
        NOW,
        new Date('2025-01-01T00:00:00Z'),
        new Date('2026-07-30T00:00:00Z'),
        new Date('2026-03-12T23:59:59Z'),
      );
      fc.assert(
        fc.property(ids, usage, at, (id, one, when) => {
          const expected = libraryCost(provider, id, one, when);
          const cost = costIn(catalogue, provider, id, one, when);
          if (expected === undefined) expect(cost).toBeUndefined();
          else expect(Math.abs((cost ?? Number.NaN) - expected)).toBeLessThanOrEqual(1e-12 + expected * 1e-12);
        }),
        { numRuns: RUNS_OF_EACH_MODEL },
      );
    },
  );

  test('there are models, and no price changes within a day, because the catalogue is read once a day', () => {
    expect(EVERY_MODEL.length).toBeGreaterThan(100);
    const conditions = EVERY_MODEL.flatMap(([, , model]) => (Array.isArray(model.prices) ? model.prices : []));
    expect(new Set(conditions.map((one) => one.constraint?.type))).toEqual(new Set([undefined, 'start_date']));
  });

  test('the version is the pinned one', () => {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    expect(catalogue.version).toBe(manifest.dependencies['@pydantic/genai-prices']);
  });
});

/** Calculated by hand from the list prices of the catalogue, in US dollars. */
const GOLDEN: [Provider, string, Partial<TokenCounts>, number][] = [
  // 0.15 in, 0.60 out, 0.075 cached
  ['openai', 'gpt-4o-mini-2024-07-18', { input: 1_000_000, output: 1_000_000 }, 0.75],
  ['openai', 'gpt-4o-mini', { input: 1_000, cached: 400, output: 100 }, 0.00009 + 0.00003 + 0.00006],
  // 2.50 in, 10 out
  ['openai', 'gpt-4o', { input: 10_000, output: 2_000 }, 0.025 + 0.02],
  // fine-tuned: 0.30 in, 1.20 out
  ['openai', 'ft:gpt-4o-mini-2024-07-18:acme::abc', { input: 1_000_000, output: 1_000_000 }, 1.5],
  ['openai', 'text-embedding-3-small', { input: 1_000_000 }, 0.02],
  // 1.25 in, 10 out 0.125 cached
  ['openai', 'gpt-5-2025-08-07', { input: 2_000, cached: 1_000, output: 500 }, 0.00125 + 0.000125 + 0.005],
  // 3 in, 15 out, 3.75 written, 6 written for an hour, 0.30 read; twice and 1.5 times as much above 200 K
  [
    'anthropic',
    'claude-sonnet-4-5-20250929',
    {
      input: 100_000,
      cached: 50_000,
      cacheWrite: 30_000,
      cacheWrite1h: 10_000,
      output: 1_000,
    },
    0.06 + 0.015 + 0.075 + 0.06 + 0.015,
  ],
  ['anthropic', 'claude-sonnet-4-5', { input: 200_000 }, 0.6],
  ['anthropic', 'claude-sonnet-4-5', { input: 200_001, output: 1_000 }, 200_001 * 6e-6 + 0.0225],
  // 0.36 an hour
  ['openai', 'whisper-1', { seconds: 27 }, 0.0027],
];

test.each(GOLDEN)('%s %s %j costs %f dollars', (provider, model, counts, expected) => {
  expect(costIn(catalogue, provider, model, counts)).toBeCloseTo(expected, 10);
  const rates = catalogue.rates(provider, model, NOW);
  expect(rates).toMatchObject({ source: '@pydantic/genai-prices', version: catalogue.version });
});

describe('a price is exact to a trillionth of a dollar', () => {
  test('41 tokens at 0.15 a million have an exact price without rounding noise', () => {
    expect(JSON.stringify(costIn(catalogue, 'openai', 'gpt-4o-mini', { input: 41 }))).toBe('0.00000615');
  });

  /** Prices of an override: up to six decimal places are whole trillionths per token. */
  const rate = fc.record({ digits: fc.nat(1_000_000), places: fc.integer({ min: 0, max: 6 }) });
  const textOf = ({ digits, places }: { digits: number; places: number }) => `${digits}e-${places}`;
  const picoOf = ({ digits, places }: { digits: number; places: number }) => BigInt(digits) * 10n ** BigInt(6 - places);
  const count = fc.nat(100_000);

  test('for any prices and counts', () => {
    const rates = fc.record({ input: rate, output: rate, cached: rate, written: rate });
    const counts = fc.record({ plain: count, cached: count, written: count, output: count });
    fc.assert(
      fc.property(rates, counts, (of, { plain, cached, written, output }) => {
        const override = parsePriceOverride(`models:
  - { provider: openai, match: m, input_usd_per_mtok: ${textOf(of.input)}, output_usd_per_mtok: ${textOf(of.output)},
      cached_input_usd_per_mtok: ${textOf(of.cached)}, cache_write_usd_per_mtok: ${textOf(of.written)} }`);
        const one = { input: plain + cached + written, cached, cacheWrite: written, output };
        const pico = [
          [of.input, plain] as const,
          [of.cached, cached] as const,
          [of.written, written] as const,
          [of.output, output] as const,
        ].reduce((sum, [price, tokens]) => sum + picoOf(price) * BigInt(tokens), 0n);
        fc.pre(pico < 8_192n * 10n ** 12n);
        const cost = costIn(openPriceCatalogue({ override }), 'openai', 'm', one);
        expect(cost).toBe(Number(pico) / 1e12);
      }),
    );
  });
});

test.each<[Provider, string]>([
  ['openai', 'no-such-model'],
  ['openai', 'claude-sonnet-4-5'],
  ['anthropic', 'gpt-4o'],
  ['unknown', 'gpt-4o'],
  ['openai', ''],
  ['openai', 'dall-e-3'],
  ['openai', `gpt-4o${' '.repeat(300)}`],
])('%s %s has no price, which differs from a price of 0', (provider, model) => {
  for (let again = 0; again < 2; again++) expect(catalogue.rates(provider, model, NOW)).toBeUndefined();
});

test('inconsistent counts never make a cost negative', () => {
  const counts = { input: 1, cached: 1_000_000, cacheWrite1h: 9 };
  expect(costIn(catalogue, 'anthropic', 'claude-haiku-4-5', counts)).toBeCloseTo(0.1, 4);
});

test("a vendor's prefix does not change a price", () => {
  expect(catalogue.rates('openai', 'openai/gpt-4o', NOW)).toBe(catalogue.rates('openai', 'openai/gpt-4o', NOW));
  expect(costIn(catalogue, 'openai', 'openai/gpt-4o', { input: 1_000_000 })).toBe(2.5);
});

test('a known model stands in for an unknown one, as configured', () => {
  const unknownModel = { openai: 'gpt-4o', anthropic: 'claude-haiku-4-5' };
  const prices = openPriceCatalogue({ unknownModel });
  expect(prices.standIn('openai', NOW)).toEqual(prices.rates('openai', 'gpt-4o', NOW));
  expect(prices.standIn('anthropic', NOW)).toEqual(prices.rates('anthropic', 'claude-haiku-4-5', NOW));
  expect(PRICED.map((provider) => catalogue.standIn(provider, NOW) !== undefined)).toEqual([true, true]);
});

test('prices stay correct with more models than are cached', () => {
  const one = openPriceCatalogue();
  const cost = () => costIn(one, 'openai', 'gpt-4o', { input: 1_000_000 });
  expect(cost()).toBe(2.5);
  for (let at = 0; at < 5_000; at++) one.rates('openai', `no-such-model-${at}`, NOW);
  expect(cost()).toBe(2.5);
});

describe('overrides', () => {
  const override = parsePriceOverride(`
models:
  - { provider: openai, match: My-Deployment, input_usd_per_mtok: 1, output_usd_per_mtok: 2 }
  - { provider: openai, match: 'gpt-4o*', input_usd_per_mtok: 4, output_usd_per_mtok: 8, cached_input_usd_per_mtok: 1, cache_write_usd_per_mtok: 5 }
`);
  const overridden = openPriceCatalogue({ override });
  const million = 1_000_000;

  test.each<[Provider, string, Partial<TokenCounts>, number | undefined]>([
    ['openai', 'my-deployment', { input: million, output: million, cached: 5, cacheWrite: 9 }, 3],
    ['openai', 'my-deployment-2', { input: million }, undefined],
    ['openai', 'gpt-4o-mini', { input: million, output: million }, 12],
    [
      'openai',
      'GPT-4o',
      {
        input: million,
        cached: million / 2,
        cacheWrite: million / 2,
        cacheWrite1h: 7,
      },
      3,
    ],
    ['anthropic', 'my-deployment', { input: million }, undefined],
    ['anthropic', 'claude-haiku-4-5', { input: million }, 1],
  ])('%s %s %j costs %p dollars', (provider, model, counts, expected) => {
    expect(costIn(overridden, provider, model, counts)).toBe(expected);
  });

  test('a price names its source', () => {
    expect(overridden.rates('openai', 'gpt-4o', NOW)).toMatchObject({ source: 'override', version: override.version });
    const listed = { source: '@pydantic/genai-prices', version: catalogue.version };
    expect(overridden.rates('openai', 'gpt-5', NOW)).toMatchObject(listed);
    expect(overridden.version).toBe(`${catalogue.version}+override.${override.version}`);
    expect(parsePriceOverride('models: []').version).not.toBe(override.version);
  });

  test('every class of tokens can have a price', () => {
    const prices = parsePriceOverride(`models:
  - { provider: openai, match: m, input_usd_per_mtok: 1, output_usd_per_mtok: 2, cached_input_usd_per_mtok: 3, cache_write_usd_per_mtok: 4,
      cache_write_1h_usd_per_mtok: 5, input_audio_usd_per_mtok: 6, cached_audio_usd_per_mtok: 7, output_audio_usd_per_mtok: 8,
      input_image_usd_per_mtok: 9, output_image_usd_per_mtok: 10, audio_usd_per_hour: 3.6, request_usd: 0.5 }`);
    const priced = openPriceCatalogue({ override: prices });
    const of = (counts: Partial<TokenCounts>) => Math.round((costIn(priced, 'openai', 'm', counts) ?? 0) * 1e6 - 500_000);
    expect([
      of({ input: 1 }),
      of({ output: 1 }),
      of({ input: 1, cached: 1 }),
      of({ input: 1, cacheWrite: 1 }),
      of({ input: 1, cacheWrite: 1, cacheWrite1h: 1 }),
      of({ input: 1, audioIn: 1 }),
      of({ input: 1, cached: 1, audioIn: 1, cachedAudio: 1 }),
      of({ output: 1, audioOut: 1 }),
      of({ input: 1, imageIn: 1 }),
      of({ output: 1, imageOut: 1 }),
      of({ seconds: 1 }),
    ]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1_000]);
  });

  test('the documented file is valid', () => {
    const page = readFileSync(new URL('../../../../docs/gateway.md', import.meta.url), 'utf8');
    const [, file = ''] = /```yaml\n(models:[^]*?)```/.exec(page) ?? [];
    const documented = openPriceCatalogue({ override: parsePriceOverride(file) });
    expect(costIn(documented, 'openai', 'prod-chat-2', { input: 1_000_000, cached: 500_000, output: 100_000 })).toBe(2.885);
  });

  const model = '{provider: openai, match: a, input_usd_per_mtok: 1, output_usd_per_mtok: 1';
  test.each([
    ['an unknown key', `models: [${model}, extra: 1}]`, /models\[0\]\.extra: unknown key; known keys: provider, match, /],
    ['a missing price', 'models: [{provider: openai, match: a, input_usd_per_mtok: 1}]', /models\[0\]\.output_usd_per_mtok: /],
    [
      'a negative price',
      `models: [${model}}, ${model}, cache_write_usd_per_mtok: -1}]`,
      /models\[1\]\.cache_write_usd_per_mtok: /,
    ],
    [
      'an unknown provider',
      'models: [{provider: unknown, match: a, input_usd_per_mtok: 1, output_usd_per_mtok: 1}]',
      /models\[0\]\.provider: /,
    ],
    ['two faults at once', 'models: [{provider: x, match: ""}]', /provider: .*match: .*input_usd_per_mtok: /],
    ['nothing', '', /document/],
    ['a list', '- 1', /the document: must be an object, not a list/],
    ['a price that is text', `models: [${model.replace('tok: 1', 'tok: cheap')}}]`, /_mtok: must be a number, not a string/],
    ['two documents', 'models: []\n---\nmodels: []', /one YAML document/],
    ['broken YAML', 'models: [', /invalid: line 1, column 10: the indentation is wrong, or a bracket is not closed$/],
    ['an alias of nothing', 'models: *none', /an alias has no anchor before it/],
  ])('%s is refused with its path', (_, text, expected) => {
    let caught: unknown;
    try {
      parsePriceOverride(text);
    } catch (error) {
      caught = error;
    }
    expect(codeOf(caught)).toBe('invalid_price_override');
    expect(messageOf(caught)).toMatch(expected);
  });
});
