import { describe, expect, test } from '@jest/globals';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import type { CapturedBody, CapturedExchange } from './captured-exchange.ts';
import { deriveTrace } from './derive-trace.ts';
import { openPriceCatalogue } from './price-catalogue.ts';
import { PLAIN_POLICY, plainExchange } from './testing/plain-exchange.ts';

const AT = Date.UTC(2026, 10, 28, 12);
const context = {
  policy: PLAIN_POLICY,
  privacy: openPrivacyContext(PLAIN_POLICY.privacy),
  prices: openPriceCatalogue(),
  cpuMs: () => 0,
};

function body(kind: CapturedBody['kind'], text: string): CapturedBody {
  const bytes = Buffer.from(text);
  return { kind, coding: '', chunks: [bytes], bytes: bytes.length, ending: 'whole', facts: undefined };
}
const json = (value: unknown) => body('json', JSON.stringify(value));
const events = (...data: unknown[]) => body('sse', data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''));

function derived(fields: Partial<CapturedExchange>) {
  return deriveTrace(plainExchange(0, { startedAt: AT, endedAt: AT, ...fields }), context, new Uint8Array(16));
}

/** What the cost of every trace promises. Spec: G4.15, G4.16. */
function expectSoundCost(fields: Partial<CapturedExchange>): void {
  const trace = derived(fields);
  const { estimated_cost_usd: usd, cost_upper_usd: upper = Number.NaN, cost_status: status } = trace;
  expect(Number.isFinite(usd) && Number.isFinite(upper)).toBe(true);
  expect(usd).toBeGreaterThanOrEqual(0);
  expect(upper).toBeGreaterThanOrEqual(usd);
  if (status === 'priced') expect(upper).toBe(usd);
  if (status === 'unpriced') expect(usd).toBe(0);
  if (status === 'free') expect([usd, upper]).toEqual([0, 0]);
  const { cost_breakdown: parts = {} } = JSON.parse(trace.metadata) as { readonly cost_breakdown?: Record<string, number> };
  const sum = Object.values(parts).reduce((total, part) => total + part, 0);
  expect(Math.abs(sum - usd)).toBeLessThanOrEqual(1e-11 + usd * 1e-12);
  const { input_tokens: input, output_tokens: output, total_tokens: total, upper_tokens: most = total } = trace;
  for (const count of [input, output, total, most]) expect(Number.isInteger(count) && count >= 0).toBe(true);
  expect(most).toBeGreaterThanOrEqual(total);
}

const anyJson = fc.jsonValue({ maxDepth: 2 });
/** A count, or what a provider should not send. */
const odd = fc.oneof(
  { weight: 8, arbitrary: fc.nat(400_000) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(0, null, 1, 200_001, 272_000, 1e9) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(-1, 0.5, -0, 1e9 + 1, 2 ** 53, 1e300, '12', true, [], {}, [7]) },
  { weight: 1, arbitrary: anyJson },
);
/** An object with some of these fields, or any other value. */
function some(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 8, arbitrary: fc.record(fields, { requiredKeys: [] }) }, { weight: 1, arbitrary: anyJson });
}
const oddOf = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, odd]));

const MAIN = ['prompt_tokens', 'completion_tokens', 'input_tokens', 'output_tokens'];
const CACHE = ['cache_read_input_tokens', 'cache_creation_input_tokens'];
const writes = some(oddOf('ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens', 'ephemeral_24h_input_tokens'));
const type = fc.constantFrom<unknown>('message', 'compaction', 'advisor_message', 'fallback_message', 'of tomorrow', 7);
const MODELS = [
  'gpt-4o',
  'gpt-4o-audio-preview',
  'gpt-image-1',
  'gpt-5.5',
  'whisper-1',
  'claude-opus-4-6',
  'claude-sonnet-4-5',
  'no-such-model',
];
const model = fc.constantFrom(...MODELS);

/** `deeper`: details of the input's details. */
function anyUsage(deeper: Record<string, fc.Arbitrary<unknown>> = {}): fc.Arbitrary<unknown> {
  const details = some({
    ...oddOf('cached_tokens', 'cache_write_tokens', 'audio_tokens', 'image_tokens', 'text_tokens', 'reasoning_tokens'),
    cache_write_tokens_details: some(oddOf('ttl_30m_tokens', 'ttl_12h_tokens')),
    ...deeper,
  });
  const sides = ['prompt', 'completion', 'input', 'output'].map((side) => [`${side}_tokens_details`, details] as const);
  const iteration = some({ type, model, cache_creation: writes, ...oddOf(...MAIN.slice(2), ...CACHE) });
  return some({
    ...oddOf(...MAIN, ...CACHE, 'total_tokens', 'reasoning_tokens', 'seconds'),
    ...Object.fromEntries(sides),
    input_token_details: details,
    type: fc.constantFrom<unknown>(undefined, 'tokens', 'duration', 'words', 5),
    cache_creation: writes,
    iterations: fc.oneof(fc.array(iteration, { maxLength: 4 }), anyJson),
    server_tool_use: some(oddOf('web_search_requests', 'web_fetch_requests', 'video_requests')),
    service_tier: fc.constantFrom<unknown>(undefined, 'standard', 'batch', 'priority', 'flex', 'of tomorrow', 5),
    speed: fc.constantFrom<unknown>(undefined, 'standard', 'fast', 'slow', []),
    inference_geo: fc.constantFrom<unknown>(undefined, 'us', 'eu', 5),
  });
}

type Reports = readonly unknown[];
/** How a provider reports usage, one or several times. */
const RESPONSES: Readonly<Record<string, (model: string, reports: Reports) => Partial<CapturedExchange>>> = {
  'a chat completion': (name, [usage]) => ({ response: json({ model: name, usage }) }),
  'the stream of a chat completion': (name, reports) => ({
    response: events(...reports.map((usage) => ({ object: 'chat.completion.chunk', model: name, choices: [], usage }))),
  }),
  'a transcription': (name, [usage]) => ({ path: '/openai/v1/audio/transcriptions', response: json({ model: name, usage }) }),
  'an image': (name, [usage]) => ({ path: '/openai/v1/images/generations', response: json({ model: name, usage, data: [{}] }) }),
  'a stream of events': (name, [first, ...more]) => ({
    path: '/openai/v1/responses',
    response: events(
      { type: 'response.in_progress', response: { id: 'resp_1', status: 'in_progress', model: name, usage: first } },
      ...more.map((usage) => ({ type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } })),
    ),
  }),
  'a message': (name, [usage]) => ({
    provider: 'anthropic',
    path: '/anthropic/v1/messages',
    request: json({ model: name, cache_control: { ttl: '1h' } }),
    response: json({ model: name, usage }),
  }),
  'the stream of a message': (name, [first, ...more]) => ({
    provider: 'anthropic',
    path: '/anthropic/v1/messages',
    response: events(
      { type: 'message_start', message: { model: name, usage: first } },
      ...more.map((usage) => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage })),
    ),
  }),
  'results of a batch of OpenAI': (name, reports) => ({
    method: 'GET',
    path: '/openai/v1/files/file_1/content',
    response: lines(reports.map((usage) => ({ response: { status_code: 200, body: { model: name, usage } } }))),
  }),
  'results of a batch of Anthropic': (name, reports) => ({
    provider: 'anthropic',
    method: 'GET',
    path: '/anthropic/v1/messages/batches/msgbatch_1/results',
    response: lines(reports.map((usage) => ({ result: { type: 'succeeded', message: { model: name, usage } } }))),
  }),
};

function lines(of: readonly unknown[]): CapturedBody {
  return body('jsonl', of.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

const TOO_LONG = { prompt_tokens: 5, padding: 'x'.repeat(70_000) };
/** Most of it is text, although there is not so much input. */
const TEXT_ABOVE_INPUT = {
  input_tokens: 1_000,
  output_tokens: 1,
  input_token_details: { audio_tokens: 500, text_tokens: 5_000 },
};

describe('whatever a provider reports as usage, the cost is neither negative nor above its upper bound, and exact if it is priced:', () => {
  const reports = fc.array(anyUsage(), { minLength: 1, maxLength: 3 });
  test.each(Object.entries(RESPONSES))('%s', (_, exchangeOf) => {
    fc.assert(
      fc.property(model, reports, (name, all) => expectSoundCost(exchangeOf(name, all))),
      {
        numRuns: propertyRuns(2_000),
        examples: [
          ['gpt-4o', [TOO_LONG, TOO_LONG]],
          ['gpt-4o-audio-preview', [TEXT_ABOVE_INPUT]],
        ],
      },
    );
  });

  const contradiction = {
    prompt_tokens: 100,
    completion_tokens: 0,
    prompt_tokens_details: { cached_tokens_details: { audio_tokens: 50 } },
  };
  test('cached audio that is neither cached nor audio', () => {
    const deeper = { cached_tokens_details: some(oddOf('audio_tokens', 'text_tokens')) };
    fc.assert(
      fc.property(fc.constantFrom('gpt-realtime', 'gpt-4o'), anyUsage(deeper), (name, usage) => {
        expectSoundCost({ response: json({ model: name, usage }) });
      }),
      { numRuns: propertyRuns(2_000), examples: [['gpt-realtime', contradiction]] },
    );
  });
});

describe('so it is whatever stands in the other fields that affect a price:', () => {
  const text = fc.constantFrom<unknown>('low', 'hd', '1024x1024', 'auto', 'constructor', '__proto__', 'name', 5, {}, null);
  const value = fc.oneof(text, odd, fc.constantFrom<unknown>({ toString: 1 }, { valueOf: 1, toString: 1 }, '7', '-1'));
  const item = some({
    type: fc.constantFrom<unknown>(
      'web_search_call',
      'file_search_call',
      'code_interpreter_call',
      'shell_call',
      'image_generation_call',
    ),
    action: some({ type: text }),
    container_id: value,
    environment: some({ container_id: value }),
    size: value,
    quality: value,
  });
  const tool = some({
    type: fc.constantFrom<unknown>('web_search_preview', 'code_interpreter', 'shell', 'image_generation', 5),
    model: fc.oneof(model, value),
    container: fc.oneof(some({ memory_limit: fc.constantFrom<unknown>('1g', '64g', '256g', 'toString', 5) }), value),
  });
  const answer = some({
    model: fc.oneof(model, value),
    service_tier: fc.constantFrom<unknown>('default', 'flex', 'priority', 'scale', 'of tomorrow', 5, null),
    usage: anyUsage(),
    tool_usage: some({ web_search: some(oddOf('num_requests')), image_gen: anyUsage() }),
    svg_usage: anyUsage(),
    output: fc.oneof(fc.array(item, { maxLength: 5 }), anyJson),
    content: fc.array(some({ type: fc.constantFrom('web_search_tool_result', 'text') }), { maxLength: 3 }),
    tools: fc.array(tool, { maxLength: 3 }),
    data: fc.oneof(fc.array(anyJson, { maxLength: 12 }), anyJson),
    duration: value,
    id: text,
    status: text,
  });
  const asked = some({
    model: fc.oneof(fc.constantFrom('dall-e-2', 'dall-e-3', 'openai/dall-e-3'), model, value),
    n: value,
    size: value,
    quality: value,
    background: value,
    tools: fc.array(tool, { maxLength: 3 }),
  });
  const PATHS = [
    'chat/completions',
    'responses',
    'images/generations',
    'audio/transcriptions',
    'audio/speech',
    'embeddings',
    'messages',
  ];

  test('of a request and of its response', () => {
    const numeric = [{ model: 'dall-e-2', n: { toString: 1 } }, { data: [{}] }, 'images/generations'] as const;
    const inherited = [{ model: 'dall-e-2', size: 'constructor' }, { data: [{}] }, 'images/generations'] as const;
    const beside = [
      { model: 'dall-e-2' },
      { tool_usage: { image_gen: { output_tokens: 1 } }, data: [{}] },
      'images/generations',
    ] as const;
    fc.assert(
      fc.property(asked, answer, fc.constantFrom(...PATHS), (request, response, path) => {
        const provider = path === 'messages' ? 'anthropic' : 'openai';
        expectSoundCost({ provider, path: `/${provider}/v1/${path}`, request: json(request), response: json(response) });
      }),
      { numRuns: propertyRuns(10_000), examples: [[...numeric], [...inherited], [...beside]] },
    );
  });
});
