import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { OutputEstimate } from './output-estimate.ts';

const GPT = { model: 'gpt-4o' };
const TEXT = 'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.';
const WORDS = TEXT.split(/(?= )/);
const TOKENS = countTokens(TEXT);

function read(kind: 'json' | 'sse', ...chunks: readonly (string | Uint8Array)[]): OutputEstimate {
  const estimate = new OutputEstimate(kind);
  for (const chunk of chunks) estimate.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return estimate;
}
const events = (...data: readonly unknown[]) => data.map((one) => `event: x\ndata: ${JSON.stringify(one)}\n\n`).join('');
const chat = (delta: unknown) => ({
  id: 'chatcmpl-AbCdEfGh1234567890',
  model: 'gpt-4o',
  choices: [{ index: 0, delta, finish_reason: null }],
});

const STREAMS: Readonly<Record<string, string>> = {
  chat: events(chat({ role: 'assistant', content: '' }), ...WORDS.map((content) => chat({ content }))),
  'visible reasoning': events(...WORDS.map((reasoning_content) => chat({ reasoning_content }))),
  refusal: events(...WORDS.map((refusal) => chat({ refusal }))),
  'tool call': events(
    chat({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '' } }] }),
    ...WORDS.map((text) => chat({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
  ),
  completion: events(...WORDS.map((text) => ({ id: 'cmpl-1', choices: [{ index: 0, text }] }))),
  responses: events(
    { type: 'response.created', response: { instructions: TEXT.repeat(9), tools: [{ name: TEXT, description: TEXT }] } },
    ...WORDS.map((delta) => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta, obfuscation: 'x7Hq' })),
    { type: 'response.output_text.done', item_id: 'msg_1', text: TEXT },
    { type: 'response.output_item.done', item: { type: 'message', content: [{ type: 'output_text', text: TEXT }] } },
  ),
  'function call': events(
    { type: 'response.output_item.added', item: { type: 'function_call', name: 'f', arguments: '' } },
    ...WORDS.map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
    { type: 'response.function_call_arguments.done', arguments: TEXT },
  ),
  messages: events(
    { type: 'message_start', message: { model: 'claude-sonnet-4-5', content: [], usage: { input_tokens: 10 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...WORDS.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  ),
  'tool use': events(
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} } },
    ...WORDS.map((partial_json) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json },
    })),
  ),
};
const BODIES: Readonly<Record<string, unknown>> = {
  chat: {
    id: 'chatcmpl-AbCdEfGh1234567890',
    choices: [{ message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
  },
  completion: { choices: [{ text: TEXT }] },
  responses: {
    id: 'resp_1',
    instructions: TEXT.repeat(9),
    output: [{ type: 'message', content: [{ type: 'output_text', text: TEXT }] }],
  },
  messages: { id: 'msg_1', content: [{ type: 'text', text: TEXT }], stop_reason: 'end_turn' },
  'tool use': { content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { [TEXT]: [1, 2] } }] },
};

describe('text', () => {
  test.each(Object.entries(STREAMS))('a stream of a %s counts its deltas, and nothing else', (_, stream) => {
    expect(read('sse', stream).tokens(GPT)).toBeGreaterThanOrEqual(TOKENS);
    expect(read('sse', stream).tokens(GPT)).toBeLessThan(2 * TOKENS + 48);
  });

  test.each(Object.entries(BODIES))('a body of %s counts its text, and nothing else', (_, body) => {
    expect(read('json', JSON.stringify(body)).tokens(GPT)).toBeGreaterThanOrEqual(TOKENS);
    expect(read('json', JSON.stringify(body)).tokens(GPT)).toBeLessThan(2 * TOKENS + 48);
  });

  test('every delta has a token', () => {
    const stream = events(...Array.from('aaaaaaaaaaaaaaaaaaaaaaaa', (content) => chat({ content })));
    expect(read('sse', stream).tokens(GPT)).toBeGreaterThanOrEqual(24);
  });

  test('an embedding has no output', () => {
    expect(read('json', '{"object":"list","data":[{"embedding":[0.1,0.2]}],"model":"text-embedding-3-small"}').tokens(GPT)).toBe(
      0,
    );
  });

  test('lines may end with CR LF, and an event may have several of data', () => {
    const stream = STREAMS['chat']!;
    expect(read('sse', stream.replaceAll('\n', '\r\n')).tokens(GPT)).toBe(read('sse', stream).tokens(GPT));
    expect(read('sse', stream.replaceAll(',"choices"', '\ndata:,"choices"')).tokens(GPT)).toBe(read('sse', stream).tokens(GPT));
  });
});

describe('what cannot be seen', () => {
  const stream = read('sse', STREAMS['chat']!);
  const seen = stream.tokens(GPT);

  test('a stream that was cut may have had a second more', () => {
    expect(stream.tokens({ ...GPT, isCut: true })).toBe(seen + 256);
  });

  test('reasoning is bounded by the limit of the request, by the time, and by 25,000 tokens', () => {
    const model = 'gpt-5-mini';
    expect(stream.tokens({ model })).toBe(seen + 25_000);
    expect(stream.tokens({ model, limit: 4_000 })).toBe(4_000);
    expect(stream.tokens({ model, elapsedMs: 3_000 })).toBe(seen + 1_500);
    expect(stream.tokens({ model: 'gpt-5-chat-latest' })).toBe(seen);
    expect(stream.tokens({ ...GPT, limit: 5 })).toBe(5);
  });

  test('Claude sends a summary of its thinking', () => {
    const thinking = events({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'Let me see.' },
    });
    const model = 'claude-sonnet-4-5';
    expect(read('sse', thinking, STREAMS['messages']!).tokens({ model, elapsedMs: 2_000 })).toBeGreaterThan(1_000);
    expect(read('sse', STREAMS['messages']!).tokens({ model, elapsedMs: 2_000 })).toBeLessThan(200);
  });

  test('a response of which nothing arrived may have been generated', () => {
    for (const kind of ['json', 'sse'] as const) {
      expect(read(kind).tokens({ ...GPT, isCut: true, elapsedMs: 4_000 })).toBe(2_256);
      expect(read(kind).tokens({ ...GPT, isCut: true, elapsedMs: 4_000, limit: 300 })).toBe(300);
      expect(read(kind).tokens(GPT)).toBe(0);
    }
  });
});

// oxfmt-ignore
const PARTS = [
  'data: ', 'data:', 'event: x', '\n', '\n\n', '\r\n', '\r', ':', ' ', '{', '}', '[', ']', ',', '"', '\\', '\\"', '\\u00e9', 'é', '😀', '1', 'null',
  '{"choices":[{"delta":{"content":"some words"}}]}', '"delta":"', '"delta":{', '"text":"', '"content":[{', '"content_block":{', '"name":"f"',
  '"input":{', '"thinking":"', '[DONE]', 'words and more', '{"output":[{', 'a'.repeat(100),
];
const bodies = fc.oneof(
  fc.array(fc.constantFrom(...PARTS), { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);

test('the segmentation makes no difference, and nothing throws', () => {
  fc.assert(
    fc.property(bodies, fc.constantFrom('json', 'sse'), fc.array(fc.nat(10_000), { maxLength: 8 }), (body, kind, places) => {
      const ends = [...places.map((place) => place % (body.length + 1)), body.length].toSorted((left, right) => left - right);
      const pieces = ends.map((end, at) => body.subarray(ends[at - 1] ?? 0, end));
      const bytewise = Array.from(body, (_, at) => body.subarray(at, at + 1));
      const expected = read(kind, body).tokens(GPT);
      expect(expected).toBeGreaterThanOrEqual(0);
      expect(read(kind, ...pieces).tokens(GPT)).toBe(expected);
      expect(read(kind, ...bytewise).tokens(GPT)).toBe(expected);
    }),
    { numRuns: propertyRuns(5_000) },
  );
});
