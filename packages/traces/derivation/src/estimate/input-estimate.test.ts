import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { InputEstimate } from './input-estimate.ts';

const GPT = 'gpt-4o';
const CLAUDE = 'claude-sonnet-4-5-20250929';

function read(...chunks: readonly (string | Uint8Array)[]): InputEstimate {
  const estimate = new InputEstimate();
  for (const chunk of chunks) estimate.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return estimate;
}
const tokensOf = (body: unknown, model = GPT) => read(JSON.stringify(body)).tokens(model);
/** What `part` adds to a message. */
function added(part: unknown, model = GPT): number {
  const body = (content: readonly unknown[]) => ({ model, messages: [{ role: 'user', content }] });
  return tokensOf(body([part]), model) - tokensOf(body([]), model);
}

function png(width: number, height: number, bytes = 1_000): string {
  const file = Buffer.alloc(bytes, 'x');
  file.write('89504e470d0a1a0a0000000d49484452', 'hex');
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  return file.toString('base64');
}
const openaiImage = (url: string) => ({ type: 'image_url', image_url: { url } });
const claudeImage = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
const pngUrl = (width: number, height: number, bytes?: number) => `data:image/png;base64,${png(width, height, bytes)}`;

describe('text', () => {
  test('counts every string that a model may see', () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20);
    const bodies: unknown[] = [
      { messages: [{ role: 'user', content: text }] },
      { messages: [{ role: 'user', content: [{ type: 'text', text }] }] },
      { input: text },
      { input: [text] },
      { instructions: text, input: [] },
      { input: [{ role: 'user', content: [{ type: 'input_text', text }] }] },
      { prompt: text },
      { prompt: [text] },
      { system: [{ type: 'text', text }], messages: [] },
      { tools: [{ type: 'function', function: { name: 'f', description: text } }] },
      { tools: [{ name: 'f', input_schema: { type: 'object', properties: { [text]: { type: 'string' } } } }] },
      { messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: text } }] }] },
      {
        messages: [
          { role: 'user', content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } }] },
        ],
      },
    ];
    for (const body of bodies) {
      expect(tokensOf(body)).toBeGreaterThan(countTokens(text));
      expect(tokensOf(body)).toBeLessThan(2 * countTokens(text) + 60);
    }
  });

  test('counts numbers, which arguments and embeddings have', () => {
    const numbers = Array.from({ length: 200 }, (_, at) => at * 7.5);
    expect(tokensOf({ messages: [{ content: [{ type: 'tool_use', input: { numbers } }] }] })).toBeGreaterThan(
      countTokens(JSON.stringify(numbers)),
    );
  });

  test('escapes make no difference', () => {
    const strings = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 5 });
    fc.assert(
      fc.property(strings, (texts) => {
        const json = JSON.stringify({ messages: texts.map((content) => ({ role: 'user', content })) });
        const escaped = json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
        for (const model of [GPT, CLAUDE, 'gpt-4']) expect(read(escaped).tokens(model)).toBe(read(json).tokens(model));
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });

  test('a request without a body has no tokens', () => {
    expect(read().tokens(GPT)).toBe(0);
    expect(read('').tokens()).toBe(0);
  });

  test('tokenizers differ, and one that is not known counts as the largest of OpenAI', () => {
    const body = { messages: [{ role: 'user', content: 'Hello world, how are you today? '.repeat(50) }] };
    const [gpt, old, unknown, early, late] = ['gpt-5', 'gpt-4', 'prod-chat', 'claude-opus-4-6', 'claude-opus-4-7'].map((model) =>
      tokensOf(body, model),
    ) as [number, number, number, number, number];
    expect(old).toBeGreaterThan(gpt);
    expect(unknown).toBe(old);
    expect(early).toBeGreaterThan(gpt * 1.3);
    expect(late).toBeGreaterThan(early);
    for (const model of [
      'claude-3-haiku-20240307',
      'claude-opus-4-20250514',
      'anthropic.claude-sonnet-4-5-20250929-v1:0',
      'claude-4.6-sonnet',
    ]) {
      expect(tokensOf(body, model)).toBe(early);
    }
    for (const model of ['claude-sonnet-5', 'claude-fable-5', 'claude-opus-4-8', 'claude-4.7-opus'])
      expect(tokensOf(body, model)).toBe(late);
  });

  test("Claude's prompt about tools counts", () => {
    const body = { messages: [], tools: [{ name: 'f', input_schema: { type: 'object' } }] };
    expect(tokensOf(body, CLAUDE) - tokensOf({ ...body, tools: [] }, CLAUDE)).toBeGreaterThan(804);
  });
});

describe('images', () => {
  // Examples of the documentation of both providers.
  test.each([
    ['gpt-4o', 1_024, 1_024, 765],
    ['gpt-4o', 2_048, 4_096, 1_105],
    ['gpt-4o-mini', 1_024, 1_024, 25_501],
    ['gpt-4.1-mini', 1_024, 1_024, 1_659],
    ['gpt-5-nano', 1_024, 1_024, 2_520],
    ['o4-mini', 1_024, 1_024, 1_762],
    ['gpt-5.4', 1_024, 1_024, 1_229],
    ['gpt-5.6', 4_800, 6_400, 36_000],
    ['claude-sonnet-4-5', 1_092, 1_092, 1_590],
    ['claude-sonnet-4-5', 3_840, 2_160, 1_568],
    ['claude-opus-4-8', 1_920, 1_080, 2_691],
    ['claude-opus-4-8', 3_840, 2_160, 4_784],
  ])('%s counts %i x %i pixels', (model, width, height, tokens) => {
    const image = model.startsWith('claude') ? claudeImage(png(width, height)) : openaiImage(pngUrl(width, height));
    expect(added(image, model)).toBeGreaterThanOrEqual(tokens);
    expect(added(image, model)).toBeLessThan(tokens * 1.1 + 60);
  });

  test('megabytes of base64 do not count as text', () => {
    expect(added(openaiImage(pngUrl(512, 512, 3_000_000)))).toBe(added(openaiImage(pngUrl(512, 512))));
    expect(added(claudeImage(png(512, 512, 3_000_000)), CLAUDE)).toBe(added(claudeImage(png(512, 512)), CLAUDE));
  });

  test('slashes may be escaped', () => {
    for (const filler of ['x', '\xff\xff\xff', '\x03\xff\xff']) {
      const file = Buffer.concat([Buffer.from(png(640, 480, 90), 'base64'), Buffer.alloc(9_000, filler, 'latin1')]);
      const json = JSON.stringify({
        input: [{ type: 'input_image', image_url: `data:image/png;base64,${file.toString('base64')}` }],
      });
      expect(read(json.replaceAll('/', '\\/')).tokens(GPT)).toBe(read(json).tokens(GPT));
    }
  });

  test('an image whose size is not known counts like a photograph', () => {
    const photo = added(openaiImage(pngUrl(4_032, 3_024)));
    const broken = Buffer.from('\xff\xd8\xff\xe0\x00\x10JFIF', 'latin1').toString('base64');
    for (const url of ['https://example.com/a.png', `data:image/jpeg;base64,${broken}`]) {
      expect(added(openaiImage(url)) - photo).toBeGreaterThanOrEqual(0);
      expect(added(openaiImage(url)) - photo).toBeLessThan(20);
    }
    const remote = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const uploaded = { type: 'image', source: { type: 'file', file_id: 'file_1' } };
    for (const part of [remote, uploaded]) expect(added(part, CLAUDE)).toBeLessThan(1_700);
    expect(added({ type: 'input_image', file_id: 'file-1' })).toBeLessThan(1_500);
  });

  test('text that looks like an image is text where images cannot be', () => {
    const text = pngUrl(16, 16, 30_000);
    expect(added({ type: 'text', text })).toBeGreaterThan(countTokens(text));
  });
});

describe('other content', () => {
  const wav = Buffer.alloc(44 + 320_000);
  wav.write('RIFF', 0).toString();
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(32_000, 28);

  test('audio counts by its seconds', () => {
    const audio = { type: 'input_audio', input_audio: { data: wav.toString('base64'), format: 'wav' } };
    const estimate = read(JSON.stringify({ messages: [{ role: 'user', content: [audio] }] }));
    expect(estimate.audioTokens).toBeGreaterThanOrEqual(100);
    expect(estimate.audioTokens).toBeLessThan(110);
    expect(added(audio)).toBeGreaterThanOrEqual(100);
    expect(added(audio)).toBeLessThan(140);
  });

  test('a document counts by its bytes, up to a hundred pages', () => {
    const pdf = (bytes: number) => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(bytes)]).toString('base64');
    const document = (bytes: number) => ({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: pdf(bytes) },
    });
    expect(added(document(20_000), CLAUDE)).toBeGreaterThanOrEqual(20_000);
    expect(added(document(20_000), CLAUDE)).toBeLessThan(20_100);
    expect(added(document(3_000_000), CLAUDE)).toBeLessThan(461_000);
    expect(added({ type: 'file', file: { file_data: `data:application/pdf;base64,${pdf(20_000)}` } })).toBeGreaterThan(20_000);
  });

  test.each([
    ['a conversation so far', { previous_response_id: 'resp_1', input: 'And then?' }],
    ['a conversation', { conversation: { id: 'conv_1' }, input: 'And then?' }],
    ['a prompt of the provider', { prompt: { id: 'pmpt_1' } }],
    ['a file', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] }],
    [
      'a document at an address',
      { messages: [{ content: [{ type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } }] }] },
    ],
  ])('%s counts as 100,000 tokens', (_, body) => {
    expect(tokensOf(body)).toBeGreaterThan(100_000);
    expect(tokensOf(body)).toBeLessThan(100_100);
  });

  test('encrypted reasoning counts half a token per byte', () => {
    const encrypted = 'gAAAAABo'.repeat(1_000);
    expect(tokensOf({ input: [{ type: 'reasoning', encrypted_content: encrypted }] })).toBeLessThan(4_060);
  });
});

/** Requests with everything that is read specially, and what is no JSON. */
// oxfmt-ignore
const PARTS = [
  '{', '}', '[', ']', ',', ':', '"', '\\', '\\"', '\\u00e9', '\\ud83d\\ude00', '\\u', '\\n', ' ', '\n', '1', '-2.5e3', 'true', 'null', 'é', '漢', '😀',
  '"type":"image"', '"type":', '"source":{', '"data":"', '"url":"', '"image_url":{', '"image_url":"', '"file_id":"a"', '"file_data":"', '"result":"',
  '"input_audio":{', '"encrypted_content":"', '"tools":[{', '"previous_response_id":"a"', '"conversation":{', '"content":"', '"text":"', 'words and more',
  'data:image/png;base64,', 'data:application/pdf;base64,', png(64, 48, 60), 'AAAA', '/9j/', 'a'.repeat(3_000), 'AB12'.repeat(1_100), '{"a":'.repeat(70),
];
const bodies = fc.oneof(
  fc.array(fc.constantFrom(...PARTS), { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);

test('the segmentation makes no difference, and nothing throws', () => {
  fc.assert(
    fc.property(bodies, fc.array(fc.nat(10_000), { maxLength: 8 }), (body, places) => {
      const ends = [...places.map((place) => place % (body.length + 1)), body.length].toSorted((left, right) => left - right);
      const pieces = ends.map((end, at) => body.subarray(ends[at - 1] ?? 0, end));
      const bytewise = Array.from(body, (_, at) => body.subarray(at, at + 1));
      const expected = read(body).tokens(GPT);
      expect(expected).toBeGreaterThanOrEqual(0);
      expect(read(...pieces).tokens(GPT)).toBe(expected);
      expect(read(...bytewise).tokens(GPT)).toBe(expected);
    }),
    { numRuns: propertyRuns(5_000) },
  );
});
