import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openBodyFactsReader } from './body-facts-reader.ts';
import { NO_FACTS, type BodyFacts } from './body-facts.ts';

/** A report with these fields. */
const reported = (fields: Record<string, unknown>) => ({ fields });

function read(kind: 'json' | 'jsonl' | 'sse', chunks: readonly Uint8Array[]): BodyFacts {
  const opened = openBodyFactsReader(kind);
  for (const chunk of chunks) opened.push(chunk);
  return opened.end();
}
const sse = (text: string) => read('sse', [Buffer.from(text)]);
const json = (text: string) => read('json', [Buffer.from(text)]);

/** Cuts `bytes` at the given positions, in any order. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((left, right) => left - right);
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

/** Byte by byte no chunk contains a whole event, so that no event is skipped. */
function bytewise(bytes: Uint8Array): BodyFacts {
  return read(
    'sse',
    Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
  );
}

const chunk = (members: string) => `data: {"id":"c1","object":"chat.completion.chunk",${members}}\n\n`;
const delta = (text: string, more = '') =>
  chunk(`"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]${more}`);

const CHAT = [
  delta(''),
  delta(' the "usage" of error messages: event: error'),
  delta('{"usage":{"prompt_tokens":9}}', ',"usage":null'),
  chunk(
    '"model":"other","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15},"service_tier":"default"',
  ),
  'data: [DONE]\n\n',
].join('');
const MESSAGES = [
  'event: message_start\ndata: {"type":"message_start","message":{"model":"claude-sonnet-4-5-20250929","usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1}}}\n\n',
  'event: ping\ndata: {"type": "ping"}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"simple é"}}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"output_tokens":42}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
].join('');
const RESPONSES = [
  'event: response.created\ndata: {"type":"response.created","response":{"model":"gpt-5","error":null,"usage":null}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"hi","usage":{"input_tokens":"x"}}\n\n',
  'event: response.completed\ndata: {"type":"response.completed","response":{"model":"gpt-5","error":null,"service_tier":"flex","output":[{"id":"w1","type":"web_search_call","action":{"type":"search"}},{"type":"web_search_call","action":{"type":"open_page"}},{"type":"code_interpreter_call","container_id":"c1"},{"type":"message","content":[{"type":"file_search_call"}]}],"tools":[{"type":"function","parameters":{"type":"code_interpreter"}},{"type":"code_interpreter","container":{"type":"auto"}}],"usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":8},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":24}}}\n\n',
].join('');
const FACTS: [string, string, object][] = [
  [
    'OpenAI chat',
    CHAT,
    {
      model: 'gpt-4o-mini-2024-07-18',
      usage: reported({ total_tokens: 15 }),
      isUsageFinal: true,
      ended: true,
      details: { service_tier: 'default' },
    },
  ],
  [
    'Anthropic messages',
    MESSAGES,
    {
      model: 'claude-sonnet-4-5-20250929',
      usage: reported({ input_tokens: 10, output_tokens: 42, cache_read_input_tokens: 100, cache_creation_input_tokens: 20 }),
      isUsageFinal: true,
      ended: true,
    },
  ],
  [
    'OpenAI Responses',
    RESPONSES,
    {
      model: 'gpt-5',
      usage: reported({ input_tokens: 20, output_tokens_details: { reasoning_tokens: 2 } }),
      isUsageFinal: true,
      ended: true,
      details: { service_tier: 'flex' },
      calls: { webSearches: 1, fileSearches: 0, containers: ['c1'], images: [] },
      tools: [expect.objectContaining({ type: 'code_interpreter' })],
    },
  ],
];

/** Parts of streams, valid and broken: relevant words, similar words, and everything between. */
// oxfmt-ignore
const CHUNKS = [
  '\n', '\n', '\n\n', '\n\n', '\r', '\r\n', '\r\n\r\n', '\ufeff', ':', ' ', 'data:', 'data: ', 'data', 'event: error',
  'event:error', 'event: e', 'event: ping\n', '{"', '"}', '}', '{', '[', '"a":1', '"type":"error"', '"type":"error":null',
  '"type":"message_stop"', '"type":"response.failed"', '"type":"response.incomplete"', '"usage":null', '"usage": null',
  '"usage" :null', '"usage":nulls', '"usage":{"prompt_tokens":1}', '"us', 'age":', '"\\u0075sage":{"input_tokens":2}',
  '"model":"m"', '"model":"n"', '"message":{"model":"o"}', '"error":null', '"error":"no"', '[DONE]', 'data: [DONE]', '[DO',
  'NE]', ',', '"', '\\', '\\"', 'data: {"model":"p","usage":null}\n\n', 'data: {"x":1}\n\n',
  'data: {"usage":{"output_tokens":3}}\n\n', 'data: {"type":"content_block_stop"}\r\n\r\n', ': x\n\n',
  'data: {"response":{"id":"r","status":"queued","model":"q"}}\n\n', 'data: {"response":{"id":"s","status":"in_progress"}}\n\n',
];

const EVENTS = [
  'data: {"model":"m","x":1}',
  'data: {"message":{"model":"n"}}',
  'data: {"x":"usage","y":{"usage":1}}',
  'data: {"usage":{"prompt_tokens":1,"total_tokens":2}}',
  'data: {"usage":{"output_tokens":3}}',
  'data: {"usage":null}',
  'data: {"usage":nothing}',
  'data: {"usage": nul}',
  'data: {"response":{"usage":{"input_tokens":4}},"usage":null}',
  'data: {"\\u0075sage":{"input_tokens":5}}',
  'data: {"type":"response.completed"}',
  'data: {"type":"response.incomplete"}',
  'data: {"type":"response.failed"}',
  'data: {"type":"message_stop"}',
  'data: {"type":"message_st\\u006fp"}',
  'data: {"type":"error"}',
  'data: {"error":{}}',
  'data: [DONE]',
  'data: {"type":"response.output_item.done","item":{"type":"web_search_call","action":{"type":"search"}}}',
  'data: {"type":"response.output_item.done","item":{"type":"code_interpreter_call","container_id":"c"}}',
  'data: {"type":"content_block_start","content_block":{"type":"web_search_tool_result"}}',
  'data: {"type":"response.completed","response":{"service_tier":"flex","output":[{"type":"file_search_call"}],"tools":[{"type":"shell"}]}}',
  'data: {"model":"m","choices":[{"delta":{}}],"service_tier":"x","usage":{"prompt_tokens":7}}',
  'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":8}}',
  'data: {"type":"message_mood","usage":{"output_tokens":9}}',
  'event: error\ndata: x',
  'event:error\r\ndata:x',
  'event: ping\rdata: {"a":1}',
  ': comment',
  'data: {"response":{"id":"r","status":"queued","model":"q","background":true}}',
  'data: {"response":{"id":"s","status":"in_progress"}}',
  'data: {"type":"response.completed","response":{"id":"t","status":"completed","usage":{"input_tokens":6}}}',
];

describe('the state of a response', () => {
  const created = (members: string) =>
    `data: {"type":"response.created","response":{${members},"model":"gpt-5","usage":null}}\n\n`;
  const done = 'data: {"type":"response.completed","response":{"id":"r1","status":"completed","usage":{"input_tokens":2}}}\n\n';

  test.each([
    ['{"id":"r1","status":"queued","background":true}', { id: 'r1', isFinished: false, background: true }],
    ['{"id":"r1","status":"in_progress"}', { id: 'r1', isFinished: false, background: false }],
    ['{"id":"r1","status":"completed","usage":{"input_tokens":2}}', { id: 'r1', isFinished: true, background: false }],
    ['{"id":"r1","object":"chat.completion"}', undefined],
    ['{"status":"queued"}', undefined],
    ['{"response":{"id":"r1","status":"queued"}}', undefined],
  ])('JSON: %s', (body, response) => {
    expect(json(body).response).toEqual(response);
  });

  test.each([
    [created('"id":"r1","status":"queued","background":true'), { id: 'r1', isFinished: false, background: true }],
    [created('"id":"r1","status":"in_progress"') + done, { id: 'r1', isFinished: true, background: false }],
    [done, { id: 'r1', isFinished: true, background: false }],
    ['data: {"id":"r1","status":"queued","model":"m"}\n\n', undefined],
    [CHAT, undefined],
    [MESSAGES, undefined],
  ])('events: %s', (text, response) => {
    expect(sse(text).response).toEqual(response);
    expect(bytewise(Buffer.from(text)).response).toEqual(response);
  });
});

describe('streams', () => {
  const WRITTEN: [string, (text: string) => string][] = [
    ['with LF', (text) => text],
    ['with CRLF', (text) => text.replaceAll('\n', '\r\n')],
    ['with CR', (text) => text.replaceAll('\n', '\r')],
    ['with a byte order mark and comments', (text) => `\ufeff${text.replaceAll('\n\n', '\n: keep-alive\n\n:\n')}`],
    ['without spaces after colons', (text) => text.replaceAll('data: ', 'data:').replaceAll('event: ', 'event:')],
    ['with data on many lines', (text) => text.replaceAll(',"', ',\ndata: "')],
    ['without the last blank line', (text) => text.slice(0, -2)],
    ['with other fields', (text) => text.replaceAll('data:', 'id: 7\nretry: 5\ndataset: {"usage":1}\ndat\ndata:')],
  ];
  describe.each(WRITTEN)('%s', (_, write) => {
    test.each(FACTS)('%s', (_name, text, expected) => {
      const bytes = Buffer.from(write(text));
      const facts = bytewise(bytes);
      expect(facts).toMatchObject(expected);
      expect(read('sse', [bytes])).toEqual(facts);
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length)), (places) => expect(read('sse', cut(bytes, places))).toEqual(facts)),
        { numRuns: 25 },
      );
    });
  });

  test('any stream gives the same facts for any segmentation', () => {
    const data = fc.constantFrom(...EVENTS);
    const end = fc.constantFrom('\n\n', '\n\n', '\r\n\r\n', '\r\r', '\n\r\n', '\r\n\n', '\n\r', '\n');
    const event = fc.tuple(data, end).map((parts) => parts.join(''));
    const stream = fc.oneof(
      fc.array(fc.constantFrom(...CHUNKS), { maxLength: 40 }),
      fc.array(event, { maxLength: 10 }),
      fc.array(fc.oneof(event, fc.constantFrom(...CHUNKS)), { maxLength: 10 }),
    );
    fc.assert(
      fc.property(stream, fc.array(fc.nat(2_000), { maxLength: 8 }), (chunks, places) => {
        const bytes = Buffer.from(chunks.join(''));
        const expected = bytewise(bytes);
        expect(read('sse', [bytes])).toEqual(expected);
        expect(read('sse', cut(bytes, places))).toEqual(expected);
      }),
      { numRuns: propertyRuns(10_000) },
    );
  });

  test.each<[string, string, object]>([
    ['Anthropic error', 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n', { streamError: true }],
    [
      'OpenAI error',
      `${delta('a')}data: {"error":{"message":"The server had an error"}}\n\n`,
      { streamError: true, model: 'gpt-4o-mini-2024-07-18' },
    ],
    ['an error by its name alone', 'event: error\ndata: upstream timed out\n\n', { streamError: true }],
    [
      'Responses failed',
      'data: {"type":"response.failed","response":{"error":{"code":"x"}}}\n\n',
      { streamError: true, ended: true },
    ],
    ['Responses incomplete', 'data: {"type":"response.incomplete","response":{}}\n\n', { ended: true }],
    ['error: null is none', 'data: {"error":null}\n\n', {}],
    ['the word alone is none', 'event: errors\ndata: {"a":"error","b":{"error":1}}\n\n', {}],
    ['a byte order mark before data', '\ufeffdata: {"model":"m"}\n\n', { model: 'm' }],
    ['a byte order mark before an event', '\ufeffevent: error\ndata: x\n\n', { streamError: true }],
    ['a byte order mark later on is no such mark', 'data: x\n\n\ufeffdata: {"model":"m"}\n\n', {}],
    ['the last name of an event counts', 'event: ping\nevent: error\ndata: x\n\n', { streamError: true }],
    ['a name holds for one event', 'event: error\n\ndata: x\n\n', {}],
    ['CRLF ends one line, not two', 'event: error\r\ndata: x\r\n\r\n', { streamError: true }],
    [
      'a usage beside null',
      'data: {"usage":null,"message":{"model":"m"},"response":{"usage":{"prompt_tokens":0}}}\n\n',
      { model: 'm', usage: reported({ prompt_tokens: 0 }), isUsageFinal: true },
    ],
    ['[DONE] only as the whole of an event', 'data: [DONE]!\n\ndata: [DONE]\ndata: [DONE]\n\n', {}],
    ['a data line without a colon is an empty one', 'data\ndata: {"model":"m"}\n\ndata\ndata: [DONE]\n\n', { model: 'm' }],
    ['an event without data counts for nothing', 'event: error\n\n', {}],
    [
      'a name that is not text of a model',
      'data: {"model":"a\\u0000b"}\n\ndata: {"model":7}\n\ndata: {"model":""}\n\ndata: {"model":"ok"}\n\n',
      { model: 'ok' },
    ],
    ['nothing', '', {}],
  ])('%s', (_, text, expected) => {
    expect(sse(text)).toMatchObject({ ...NO_FACTS, ...expected });
  });

  test.each(FACTS)('%s, cut: the facts so far, without an end', (_, text) => {
    const facts = sse(text.slice(0, text.lastIndexOf('\n\n', text.length - 3)));
    expect(facts.model).toBeDefined();
    const early = sse(text.slice(0, text.indexOf('\n\n') + 30));
    expect(early).toMatchObject({ model: facts.model, ended: false, streamError: false });
  });

  test('a usage before the cut counts, though the stream did not end', () => {
    const facts = sse(MESSAGES.slice(0, MESSAGES.indexOf('event: message_delta') + 50));
    expect(facts).toMatchObject({ usage: reported({ input_tokens: 10, output_tokens: 1 }), isUsageFinal: false, ended: false });
  });

  test('a line of 20 MB is skipped, and the rest of its event is read', () => {
    const opened = openBodyFactsReader('sse');
    opened.push(Buffer.from('data: {"choices":["'));
    for (let at = 0; at < 320; at++) opened.push(Buffer.alloc(65_536, 'x'));
    opened.push(Buffer.from('"],"usage":{"prompt_tokens":5}}\n\n'));
    expect(opened.end().usage).toMatchObject(reported({ prompt_tokens: 5 }));
  });
});

test.each(['data\n', 'a\n', ':\r\r'])('a million lines %j take linear time and no memory per line', (line) => {
  const chunk = Buffer.alloc(1_000_000 * line.length, line);
  const before = keptBytes();
  const reader = openBodyFactsReader('sse');
  reader.push(chunk);
  // Keeping a character of each line would take 35 MB.
  expect(keptBytes() - before).toBeLessThan(20_000_000);
  expect(reader.end()).toMatchObject({ model: undefined, ended: false });
});

/** Bytes of the heap that are still in use after a collection. */
function keptBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('JSON', () => {
  test.each<[string, string, object]>([
    [
      'chat completion',
      '{"model":"gpt-4o","choices":[{"message":{"content":"\\"usage\\":{\\"prompt_tokens\\":9}"}}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7},"service_tier":"priority"}\n',
      {
        model: 'gpt-4o',
        usage: reported({ prompt_tokens: 3, total_tokens: 7 }),
        details: { service_tier: 'priority' },
        ended: true,
      },
    ],
    ['Anthropic count_tokens has no usage', '{"input_tokens":14}', { ended: true }],
    ['an error', '{"error":{"message":"no"}}', { ended: true }],
    [
      'a body that was cut',
      '{"model":"m","usage":{"prompt_tokens":3},"choices":[',
      { model: 'm', usage: reported({ prompt_tokens: 3 }) },
    ],
    [
      'calls, tools and elements',
      '{"output":[{"type":"file_search_call"},{"type":"web_search_call"}],"tools":[{"type":"image_generation","model":"i"}],"data":[{},[1],"x"]}',
      {
        calls: { webSearches: 1, fileSearches: 1, containers: [], images: [] },
        tools: [expect.objectContaining({ model: 'i' })],
        items: 3,
        ended: true,
      },
    ],
    [
      'the last of repeated lists',
      '{"output":[{"type":"file_search_call"}],"output":[{"type":"message"}]}',
      { calls: undefined, ended: true },
    ],
    [
      'a usage over 64 KiB',
      `{"usage":{"prompt_tokens":1,"iterations":[${'1,'.repeat(40_000)}1]}}`,
      { usage: { wrong: [''] }, ended: true },
    ],
    ['no JSON', '<html>{"model":"m"}</html>', {}],
    ['nothing', '', {}],
  ])('%s', (_, text, expected) => {
    const facts = json(text);
    expect(facts).toMatchObject({ ...NO_FACTS, isUsageFinal: true, ...expected });
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(500)), (places) => expect(read('json', cut(bytes, places))).toEqual(facts)),
      { numRuns: 25 },
    );
  });
});

describe('requests', () => {
  test.each([
    ['first', '{"model":"gpt-4o","messages":[]}', 'gpt-4o'],
    ['last', '{"messages":[{"content":"{\\"model\\":\\"x\\"}","model":"y"}],"model":"gpt-4o"}', 'gpt-4o'],
    ['absent', '{"messages":[{"model":"y"}]}', undefined],
    ['not text', '{"model":{"a":1}}', undefined],
    ['too long', `{"model":"${'m'.repeat(257)}"}`, undefined],
    ['cut', '{"model":"gpt-4', undefined],
    ['no JSON', '--boundary\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n', undefined],
  ])('the model is %s', (_, text, expected) => {
    expect(
      read(
        'json',
        Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte)),
      ).model,
    ).toBe(expected);
  });

  test.each([
    ['{"background":true,"model":"m"}', true],
    ['{"background":"true","tool":{"background":true}}', false],
  ])('%s requests a background response: %p', (text, expected) => {
    expect(json(text).details['background'] === true).toBe(expected);
  });
});
