import { describe, expect, test } from '@jest/globals';
import { NO_FACTS, type BodyFacts } from './body-facts.ts';
import { FAST_MODE, GEO_FACTORS, GREATEST_FACTOR, LONG_CONTEXT, PRIORITY, type Factor } from './price-supplement.ts';
import { serviceClassOf, serviceNamedIn } from './service-class.ts';
import { NO_TOKENS, type NamedService } from './token-counts.ts';
import { withUsage, type Fields } from './usage-report.ts';

const SILENT: NamedService = { tier: undefined, speed: undefined, place: undefined };
const OPUS = 'claude-opus-4-8';
/** Anything but text. */
const WRONG_TYPES = [5, true, [], ['priority'], {}, { name: 'priority' }];

const valueOf = ({ times, over }: Factor) => times / over;

function classOf(provider: 'openai' | 'anthropic', model: string, named: Partial<NamedService>, input = 1_000) {
  const { least, most, isDoubtful } = serviceClassOf(provider, model, { ...SILENT, ...named }, { ...NO_TOKENS, input });
  return { least: valueOf(least), most: valueOf(most), isDoubtful };
}

const exactly = (multiple: number) => ({ least: multiple, most: multiple, isDoubtful: false });
const PREPAID = { least: 0, most: 1, isDoubtful: true };
const UNKNOWN = { least: 1, most: 6, isDoubtful: true };

describe('a known class of service costs its multiple of the list price', () => {
  test.each<[string, unknown, number]>([
    ['gpt-4o', undefined, 1],
    ['gpt-4o', null, 1],
    ['gpt-4o', 'default', 1],
    ['gpt-4o', 'standard', 1],
    ['gpt-5', 'flex', 1 / 2],
    ['gpt-4o', 'batch', 1 / 2],
    ['no-such-model', 'flex', 1 / 2],
    ['gpt-5.6-sol', 'priority', 2],
    ['gpt-5.5', 'priority', 5 / 2],
    ['gpt-5.4-mini', 'priority', 2],
    ['gpt-5.2-codex', 'priority', 2],
    ['gpt-5.1', 'priority', 2],
    ['gpt-5', 'fast', 2],
    ['gpt-5-codex', 'priority', 2],
    ['gpt-5-2025-08-07', 'priority', 2],
    ['gpt-5-mini', 'priority', 9 / 5],
    ['gpt-4.1-nano', 'priority', 2],
    ['gpt-4.1-mini-2025-04-14', 'priority', 7 / 4],
    ['gpt-4o-2024-05-13', 'priority', 7 / 4],
    ['gpt-4o-2024-08-06', 'priority', 17 / 10],
    ['gpt-4o', 'priority', 17 / 10],
    ['gpt-4o-mini', 'priority', 5 / 3],
    ['o3', 'priority', 7 / 4],
    ['o4-mini-2025-04-16', 'priority', 20 / 11],
  ])('of OpenAI: %s with the tier %j', (model, tier, multiple) => {
    expect(classOf('openai', model, { tier })).toEqual(exactly(multiple));
  });

  test.each<[string, Partial<NamedService>, number]>([
    [OPUS, {}, 1],
    [OPUS, { tier: null, speed: null, place: null }, 1],
    [OPUS, { tier: 'standard', speed: 'standard', place: 'global' }, 1],
    [OPUS, { place: '' }, 1],
    [OPUS, { place: 'not_available' }, 1],
    [OPUS, { tier: 'batch' }, 1 / 2],
    [OPUS, { speed: 'fast' }, 2],
    ['claude-opus-5', { speed: 'fast' }, 2],
    ['claude-opus-4-6', { speed: 'fast' }, 6],
    ['claude-opus-4-7', { speed: 'fast' }, 6],
    ['claude-sonnet-4-5', { place: 'us' }, 11 / 10],
    [OPUS, { speed: 'fast', place: 'us' }, 22 / 10],
    [OPUS, { tier: 'batch', place: 'us' }, 11 / 20],
  ])('of Anthropic: %s with %j', (model, named, multiple) => {
    expect(classOf('anthropic', model, named)).toEqual(exactly(multiple));
  });
});

test('capacity that is paid in advance is due at the list price, or not at all', () => {
  expect(classOf('openai', 'gpt-4o', { tier: 'scale' })).toEqual(PREPAID);
  expect(classOf('anthropic', OPUS, { tier: 'priority' })).toEqual(PREPAID);
  expect(classOf('anthropic', OPUS, { tier: 'priority', speed: 'fast' })).toEqual({ ...PREPAID, most: 2 });
});

describe('a class of service that is not understood costs the list price at the least and the greatest multiple at the most', () => {
  test.each<[string, unknown]>([
    ['gpt-4o', 'auto'],
    ['gpt-4o', ''],
    ['gpt-4o', 'Priority'],
    ['gpt-4o', '__proto__'],
    ['gpt-3.5-turbo', 'priority'],
    ['gpt-5-nano', 'priority'],
    ['gpt-5-pro', 'priority'],
    ['gpt-5-chat-latest', 'priority'],
    ['gpt-5.5-pro', 'priority'],
    ['gpt-5.3', 'priority'],
    ['gpt-4o-audio-preview', 'priority'],
    ['o3-pro', 'priority'],
    ['my-gpt-4o', 'priority'],
    ...WRONG_TYPES.map((tier): [string, unknown] => ['gpt-4o', tier]),
  ])('of OpenAI: %s with the tier %j', (model, tier) => {
    expect(classOf('openai', model, { tier })).toEqual(UNKNOWN);
  });

  test.each<[string, Partial<NamedService>]>([
    [OPUS, { tier: 'flex' }],
    [OPUS, { tier: '' }],
    [OPUS, { speed: 'slow' }],
    [OPUS, { speed: '' }],
    ['claude-sonnet-4-5', { speed: 'fast' }],
    [OPUS, { place: 'eu' }],
    [OPUS, { place: 'constructor' }],
    ...WRONG_TYPES.flatMap((value): [string, Partial<NamedService>][] => [
      [OPUS, { tier: value }],
      [OPUS, { speed: value }],
      [OPUS, { place: value }],
    ]),
  ])('of Anthropic: %s with %j', (model, named) => {
    expect(classOf('anthropic', model, named)).toEqual(UNKNOWN);
  });

  test('what is understood beside it still counts', () => {
    expect(classOf('anthropic', OPUS, { tier: 'flex', place: 'us' })).toEqual({ least: 1.1, most: 6.6, isDoubtful: true });
    expect(classOf('anthropic', OPUS, { tier: 'batch', speed: 'slow' })).toEqual({ least: 0.5, most: 3, isDoubtful: true });
  });

  test('no known tier, speed or place costs more than an unknown one', () => {
    const known = [...PRIORITY, ...FAST_MODE].map(({ factor }) => factor);
    for (const factor of [...known, ...Object.values(GEO_FACTORS)])
      expect(valueOf(factor)).toBeLessThanOrEqual(valueOf(GREATEST_FACTOR));
  });
});

test('in a long context the priority tier has a price only where it is listed', () => {
  const priority = { tier: 'priority' };
  expect(classOf('openai', 'gpt-5.5', priority, LONG_CONTEXT - 1)).toEqual(exactly(5 / 2));
  expect(classOf('openai', 'gpt-5.5', priority, LONG_CONTEXT)).toEqual(UNKNOWN);
  expect(classOf('openai', 'gpt-5.6-sol', priority, LONG_CONTEXT)).toEqual(exactly(2));
  expect(classOf('openai', 'gpt-5.5', { tier: 'flex' }, LONG_CONTEXT)).toEqual(exactly(1 / 2));
  expect(classOf('openai', 'gpt-5.5', SILENT, LONG_CONTEXT)).toEqual(exactly(1));
});

test('a provider knows only its own names', () => {
  expect(classOf('openai', 'gpt-4o', { speed: 'fast', place: 'us' })).toEqual(exactly(1));
  expect(classOf('anthropic', OPUS, { tier: 'default' })).toEqual(UNKNOWN);
});

describe('the class of service is named', () => {
  const factsWith = (details: Fields, usage?: Fields): BodyFacts => ({
    ...NO_FACTS,
    details,
    usage: withUsage(undefined, usage),
  });

  test('by the response, else by its usage', () => {
    expect(serviceNamedIn(factsWith({}))).toEqual(SILENT);
    expect(serviceNamedIn(factsWith({ service_tier: 'flex' }, {}))).toEqual({ ...SILENT, tier: 'flex' });
    expect(serviceNamedIn(factsWith({}, { service_tier: 'batch' }))).toEqual({ ...SILENT, tier: 'batch' });
    expect(serviceNamedIn(factsWith({ service_tier: 'flex' }, { service_tier: 'batch' }))).toEqual({ ...SILENT, tier: 'flex' });
  });

  test('speed and place only by the usage', () => {
    const usage = { service_tier: 'standard', speed: 'fast', inference_geo: 'us' };
    expect(serviceNamedIn(factsWith({ speed: 'slow' }, usage))).toEqual({ tier: 'standard', speed: 'fast', place: 'us' });
  });
});
