import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices';
import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { openPriceCatalogue } from './price-catalogue.ts';
import { parsePriceOverride } from './price-override.ts';
import type { Provider } from '@vitrine/traces/trace';
import type { Usage } from './usage.ts';

const NONE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_input_tokens: 0,
  cache_write_input_tokens: 0,
  cache_write_1h_input_tokens: 0,
  reasoning_tokens: 0,
};
const NOW = new Date('2026-09-25T12:00:00Z');
const catalogue = openPriceCatalogue();
const PRICED = ['openai', 'anthropic'] as const;

/** Ids that the library accepts for this model: its own, and those of its rules. */
function idsOf(model: ModelInfo): string[] {
  const rules = 'or' in model.match ? model.match.or : [model.match];
  const named = rules.flatMap((rule) => {
    if ('equals' in rule) return [rule.equals];
    return 'starts_with' in rule ? [rule.starts_with, `${rule.starts_with}-2026-01-02`] : [];
  });
  return [model.id, ...named, ...named.map((id) => `${id}-20260102`), ...named.map((id) => id.toUpperCase())];
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
    searches: fc.nat(5),
  })
  .map(({ plain, cached, write, hour, audio, image, output, audioOut, searches }): Usage => {
    const input = plain + cached + write + hour + audio + image;
    return {
      input_tokens: input,
      output_tokens: output + audioOut,
      total_tokens: input + output + audioOut,
      cached_input_tokens: cached,
      cache_write_input_tokens: write + hour,
      cache_write_1h_input_tokens: hour,
      reasoning_tokens: 0,
      audio_input_tokens: audio,
      audio_output_tokens: audioOut,
      image_input_tokens: image,
      web_search_requests: searches,
    };
  });

function libraryCost(provider: string, model: string, one: Usage, at: Date): number | undefined {
  const counted = {
    input_tokens: one.input_tokens,
    output_tokens: one.output_tokens,
    cache_read_tokens: one.cached_input_tokens,
    cache_write_tokens: one.cache_write_input_tokens,
    cache_write_1h_tokens: one.cache_write_1h_input_tokens,
    input_audio_tokens: one.audio_input_tokens,
    output_audio_tokens: one.audio_output_tokens,
    input_image_tokens: one.image_input_tokens,
    output_image_tokens: one.image_output_tokens,
    // Providers do not report which part of cached input is audio or image, so it counts as text.
    cache_audio_read_tokens: 0,
    cache_image_read_tokens: 0,
    web_searches: one.web_search_requests,
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
  test.each(EVERY_MODEL.filter(([, id]) => !HOURLY.includes(id)))('%s %s costs the same', (provider, _id, model) => {
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
        const cost = catalogue.cost(provider, id, one, when)?.cost_usd;
        if (expected === undefined) expect(cost).toBeUndefined();
        else expect(Math.abs((cost ?? Number.NaN) - expected)).toBeLessThanOrEqual(1e-12 + expected * 1e-12);
      }),
      { numRuns: RUNS_OF_EACH_MODEL },
    );
  });

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
const GOLDEN: [Provider, string, Partial<Usage>, number][] = [
  // 0.15 in, 0.60 out, 0.075 cached
  ['openai', 'gpt-4o-mini-2024-07-18', { input_tokens: 1_000_000, output_tokens: 1_000_000 }, 0.75],
  ['openai', 'gpt-4o-mini', { input_tokens: 1_000, cached_input_tokens: 400, output_tokens: 100 }, 0.00009 + 0.00003 + 0.00006],
  // 2.50 in, 10 out
  ['openai', 'gpt-4o', { input_tokens: 10_000, output_tokens: 2_000 }, 0.025 + 0.02],
  // fine-tuned: 0.30 in, 1.20 out
  ['openai', 'ft:gpt-4o-mini-2024-07-18:acme::abc', { input_tokens: 1_000_000, output_tokens: 1_000_000 }, 1.5],
  ['openai', 'text-embedding-3-small', { input_tokens: 1_000_000 }, 0.02],
  // 1.25 in, 10 out (reasoning is output), 0.125 cached
  [
    'openai',
    'gpt-5-2025-08-07',
    { input_tokens: 2_000, cached_input_tokens: 1_000, output_tokens: 500, reasoning_tokens: 400 },
    0.00125 + 0.000125 + 0.005,
  ],
  // 3 in, 15 out, 3.75 written, 6 written for an hour, 0.30 read; twice and 1.5 times as much above 200 K
  [
    'anthropic',
    'claude-sonnet-4-5-20250929',
    {
      input_tokens: 100_000,
      cached_input_tokens: 50_000,
      cache_write_input_tokens: 30_000,
      cache_write_1h_input_tokens: 10_000,
      output_tokens: 1_000,
    },
    0.06 + 0.015 + 0.075 + 0.06 + 0.015,
  ],
  ['anthropic', 'claude-sonnet-4-5', { input_tokens: 200_000 }, 0.6],
  ['anthropic', 'claude-sonnet-4-5', { input_tokens: 200_001, output_tokens: 1_000 }, 200_001 * 6e-6 + 0.0225],
  // 1 in, 5 out; a search is a cent
  ['anthropic', 'claude-haiku-4-5', { input_tokens: 10_000, output_tokens: 1_000, web_search_requests: 3 }, 0.01 + 0.005 + 0.03],
];

test.each(GOLDEN)('%s %s %j costs %f dollars', (provider, model, counts, expected) => {
  const price = catalogue.cost(provider, model, { ...NONE, ...counts }, NOW);
  expect(price?.cost_usd).toBeCloseTo(expected, 10);
  expect(price).toMatchObject({ price_source: '@pydantic/genai-prices', price_version: catalogue.version });
});

describe('a price is exact to a trillionth of a dollar', () => {
  test('41 tokens at 0.15 a million have an exact price without rounding noise', () => {
    const price = catalogue.cost('openai', 'gpt-4o-mini', { ...NONE, input_tokens: 41 }, NOW);
    expect(JSON.stringify(price?.cost_usd)).toBe('0.00000615');
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
        const one: Usage = {
          ...NONE,
          input_tokens: plain + cached + written,
          cached_input_tokens: cached,
          cache_write_input_tokens: written,
          output_tokens: output,
        };
        const pico = [
          [of.input, plain] as const,
          [of.cached, cached] as const,
          [of.written, written] as const,
          [of.output, output] as const,
        ].reduce((sum, [price, tokens]) => sum + picoOf(price) * BigInt(tokens), 0n);
        fc.pre(pico < 8_192n * 10n ** 12n);
        const cost = openPriceCatalogue({ override }).cost('openai', 'm', one, NOW)?.cost_usd;
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
  ['openai', 'whisper-1'],
  ['openai', `gpt-4o${' '.repeat(300)}`],
])('%s %s has no price, which differs from a price of 0', (provider, model) => {
  for (let again = 0; again < 2; again++)
    expect(catalogue.cost(provider, model, { ...NONE, input_tokens: 5 }, NOW)).toBeUndefined();
});

test('inconsistent counts never make a cost negative', () => {
  const price = catalogue.cost(
    'anthropic',
    'claude-haiku-4-5',
    { ...NONE, input_tokens: 1, cached_input_tokens: 1_000_000, cache_write_1h_input_tokens: 9 },
    NOW,
  );
  expect(price?.cost_usd).toBeCloseTo(0.1, 10);
});

test('prices stay correct with more models than are cached', () => {
  const one = openPriceCatalogue();
  const cost = () => one.cost('openai', 'gpt-4o', { ...NONE, input_tokens: 1_000_000 }, NOW)?.cost_usd;
  expect(cost()).toBe(2.5);
  for (let at = 0; at < 5_000; at++) one.cost('openai', `no-such-model-${at}`, NONE, NOW);
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

  test.each<[Provider, string, Partial<Usage>, number | undefined]>([
    [
      'openai',
      'my-deployment',
      { input_tokens: million, output_tokens: million, cached_input_tokens: 5, cache_write_input_tokens: 9 },
      3,
    ],
    ['openai', 'my-deployment-2', { input_tokens: million }, undefined],
    ['openai', 'gpt-4o-mini', { input_tokens: million, output_tokens: million }, 12],
    [
      'openai',
      'GPT-4o',
      {
        input_tokens: million,
        cached_input_tokens: million / 2,
        cache_write_input_tokens: million / 2,
        cache_write_1h_input_tokens: 7,
      },
      3,
    ],
    ['anthropic', 'my-deployment', { input_tokens: million }, undefined],
    ['anthropic', 'claude-haiku-4-5', { input_tokens: million }, 1],
  ])('%s %s %j costs %p dollars', (provider, model, counts, expected) => {
    expect(overridden.cost(provider, model, { ...NONE, ...counts }, NOW)?.cost_usd).toBe(expected);
  });

  test('a price names its source', () => {
    expect(overridden.cost('openai', 'gpt-4o', NONE, NOW)).toMatchObject({
      price_source: 'override',
      price_version: override.version,
    });
    expect(overridden.cost('openai', 'gpt-5', NONE, NOW)).toMatchObject({
      price_source: '@pydantic/genai-prices',
      price_version: catalogue.version,
    });
    expect(overridden.version).toBe(`${catalogue.version}+override.${override.version}`);
    expect(parsePriceOverride('models: []').version).not.toBe(override.version);
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
    ['broken YAML', 'models: [', /invalid/],
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
