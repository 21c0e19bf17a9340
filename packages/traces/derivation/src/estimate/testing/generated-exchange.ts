import * as fc from 'fast-check';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { computeChatCompletionTokenCount, type ChatCompletionFunctionDefinition } from 'gpt-tokenizer/functionCalling';
import { TEXTS, type TextKind } from './texts.ts';

/** An exchange whose usage is hidden, and what it was. */
export interface GeneratedExchange {
  readonly kind: TextKind | 'image' | 'tools';
  readonly model: string;
  readonly request: Buffer;
  readonly response: Buffer;
  readonly responseKind: 'json' | 'sse';
  readonly input: number;
  readonly output: number;
}

/** The prices of a model's input and output: every fourth or fifth. */
export const OUTPUT_PRICE = 4;

interface Family {
  readonly models: readonly string[];
  readonly count: (text: string) => number;
  /** Tokens of images by their size in pixels. */
  readonly images: Readonly<Record<string, number>>;
}

const openai = (count: typeof o200k) => (text: string) => count(text, { disallowedSpecial: new Set() });
/** Anthropic's tokenizer is not public. Its counts are assumed to be so much more than those of `o200k_base`: the most that was published. */
const claude = (factor: number) => (text: string) => Math.ceil(factor * openai(o200k)(text));
/** Sizes of images and their tokens, from examples in the documentation of both providers. */
const FAMILIES = {
  o200k: {
    models: ['gpt-4o', 'gpt-4.1', 'chatgpt-4o-latest'],
    count: openai(o200k),
    images: { '1024x1024': 765, '2048x4096': 1_105, '512x512': 255 },
  },
  mini: { models: ['gpt-4.1-mini'], count: openai(o200k), images: { '1024x1024': 1_659, '1800x2400': 2_353 } },
  gpt4oMini: {
    models: ['gpt-4o-mini', 'gpt-4o-mini-2024-07-18'],
    count: openai(o200k),
    images: { '512x512': 8_500, '1024x1024': 25_501 },
  },
  cl100k: { models: ['gpt-4-turbo', 'gpt-4', 'gpt-3.5-turbo', 'prod-chat'], count: openai(cl100k), images: { '1024x1024': 765 } },
  earlyClaude: {
    models: ['claude-sonnet-4-5-20250929', 'claude-3-5-haiku-latest', 'claude-opus-4-6'],
    count: claude(1.35),
    images: { '200x200': 64, '1000x1000': 1_334, '1092x1092': 1_590, '1920x1080': 1_568, '3840x2160': 1_568 },
  },
  claude: {
    models: ['claude-opus-4-7', 'claude-sonnet-5', 'claude-fable-5'],
    count: claude(1.6),
    images: { '200x200': 64, '1000x1000': 1_296, '1092x1092': 1_521, '1920x1080': 2_691, '3840x2160': 4_784 },
  },
} satisfies Record<string, Family>;
const OPENAI: readonly Family[] = [FAMILIES.o200k, FAMILIES.o200k, FAMILIES.mini, FAMILIES.gpt4oMini, FAMILIES.cl100k];
const ANTHROPIC: readonly Family[] = [FAMILIES.earlyClaude, FAMILIES.claude];
/** The tool use prompt of Claude is between these. */
const CLAUDE_TOOLS_PROMPT = [290, 804] as const;

const TOOL: ChatCompletionFunctionDefinition = {
  name: 'get_current_weather',
  description: 'Get the current weather in a given location. Call it for every question about rain, wind or temperature.',
  parameters: {
    type: 'object',
    properties: {
      location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'], description: 'The unit of the temperature.' },
      days_ahead: { type: 'integer', description: 'How many days ahead, at most 14.' },
    },
    required: ['location'],
  },
};

interface Draft {
  readonly kind: GeneratedExchange['kind'];
  readonly system: string;
  readonly turns: readonly string[];
  readonly answer: string;
  readonly cuts: readonly number[];
  readonly isStream: boolean;
  readonly escapes: boolean;
  readonly pick: number;
}

const KINDS: readonly GeneratedExchange['kind'][] = [...(Object.keys(TEXTS) as TextKind[]), 'image', 'tools'];

const DRAFTS: fc.Arbitrary<Draft> = fc.constantFrom(...KINDS).chain((kind) => {
  const text = kind === 'image' || kind === 'tools' ? TEXTS.english : TEXTS[kind];
  return fc.record({
    kind: fc.constant(kind),
    system: fc.constantFrom('', 'You are a helpful assistant.', 'Answer in one sentence. Name your sources.'),
    turns: fc.array(text, { minLength: 1, maxLength: 5 }),
    answer: text,
    cuts: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 3, maxLength: 8 }),
    isStream: fc.boolean(),
    escapes: fc.boolean(),
    pick: fc.nat(),
  });
});

export const EXCHANGES: fc.Arbitrary<GeneratedExchange> = fc.oneof(
  DRAFTS.map((draft) => chat(draft, OPENAI[draft.pick % OPENAI.length]!)),
  DRAFTS.map((draft) => messages(draft, ANTHROPIC[draft.pick % ANTHROPIC.length]!)),
  DRAFTS.map((draft) => responses(draft, FAMILIES.o200k)),
);

function chat(draft: Draft, family: Family): GeneratedExchange {
  const model = pickFrom(family.models, draft.pick);
  const roles = draft.turns.map((content, at) => ({ role: at % 2 === 0 ? ('user' as const) : ('assistant' as const), content }));
  const system = draft.system === '' ? [] : [{ role: 'system' as const, content: draft.system }];
  const hasTools = draft.kind === 'tools';
  const image = imageOf(draft, family);
  const prompt = { messages: [...system, ...roles], ...(hasTools && { functions: [TOOL] }) };
  const input = computeChatCompletionTokenCount(prompt, family.count) + (image === undefined ? 0 : image.tokens + 4);
  const last = image && { role: 'user', content: [{ type: 'image_url', image_url: { url: image.url, detail: 'high' } }] };
  const body = {
    model,
    messages: [...system, ...roles, ...(last ? [last] : [])],
    stream: draft.isStream,
    ...(hasTools && { tools: [{ type: 'function', function: TOOL }] }),
  };
  const call = hasTools ? argumentsOf(draft) : undefined;
  const output = call === undefined ? family.count(draft.answer) : family.count(call) + family.count(TOOL.name) + 8;
  const deltas = pieces(call ?? draft.answer, draft.cuts).map((content) =>
    call === undefined ? { content } : { tool_calls: [{ index: 0, function: { arguments: content } }] },
  );
  const first =
    call === undefined
      ? { role: 'assistant', content: '' }
      : { tool_calls: [{ index: 0, id: 'call_Ab3', function: { name: TOOL.name } }] };
  const message =
    call === undefined
      ? { role: 'assistant', content: draft.answer }
      : { tool_calls: [{ id: 'call_Ab3', function: { name: TOOL.name, arguments: call } }] };
  return exchange(draft, {
    model,
    body,
    input,
    output,
    events: [first, ...deltas].map((delta) => ({
      id: 'chatcmpl-AbCdEfGh1234567890',
      object: 'chat.completion.chunk',
      model,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
    })),
    reply: {
      id: 'chatcmpl-AbCdEfGh1234567890',
      object: 'chat.completion',
      model,
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    },
  });
}

function responses(draft: Draft, family: Family): GeneratedExchange {
  const model = pickFrom(family.models, draft.pick);
  const image = imageOf(draft, family);
  const content = [
    ...draft.turns.map((text) => ({ type: 'input_text', text })),
    ...(image ? [{ type: 'input_image', image_url: image.url }] : []),
  ];
  const texts = [draft.system, ...draft.turns].map(family.count);
  return exchange(draft, {
    model,
    body: { model, instructions: draft.system, input: [{ role: 'user', content }], stream: draft.isStream },
    input: sum(texts) + 11 + (image?.tokens ?? 0),
    output: family.count(draft.answer),
    events: [
      { type: 'response.created', response: { id: 'resp_1', model, instructions: draft.system, output: [], usage: null } },
      { type: 'response.output_item.added', item: { id: 'msg_1', type: 'message', content: [] } },
      ...pieces(draft.answer, draft.cuts).map((delta) => ({
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        delta,
        obfuscation: 'qT7f',
      })),
      { type: 'response.output_text.done', item_id: 'msg_1', text: draft.answer },
      { type: 'response.content_part.done', part: { type: 'output_text', text: draft.answer } },
    ],
    reply: {
      id: 'resp_1',
      model,
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: draft.answer }] }],
    },
  });
}

function messages(draft: Draft, family: Family): GeneratedExchange {
  const model = pickFrom(family.models, draft.pick);
  const image = imageOf(draft, family);
  const hasTools = draft.kind === 'tools';
  const turns = draft.turns.map((text, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: [{ type: 'text', text }] as unknown[],
  }));
  const data = image?.url.slice(image.url.indexOf(',') + 1);
  if (image) turns[0]!.content.push({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
  const tool = { name: TOOL.name, description: TOOL.description, input_schema: TOOL.parameters };
  const prompt = hasTools ? CLAUDE_TOOLS_PROMPT[draft.pick % 2]! + family.count(JSON.stringify(tool)) : 0;
  const call = hasTools ? argumentsOf(draft) : undefined;
  const block = call === undefined ? { type: 'text', text: '' } : { type: 'tool_use', id: 'toolu_1', name: TOOL.name, input: {} };
  const delta = (text: string) =>
    call === undefined ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text };
  return exchange(draft, {
    model,
    body: {
      model,
      max_tokens: 1_024,
      system: draft.system,
      messages: turns,
      stream: draft.isStream,
      ...(hasTools && { tools: [tool] }),
    },
    input: sum([draft.system, ...draft.turns].map(family.count)) + 4 * turns.length + 5 + prompt + (image?.tokens ?? 0),
    output: call === undefined ? family.count(draft.answer) + 3 : family.count(call) + family.count(TOOL.name) + 45,
    events: [
      {
        type: 'message_start',
        message: { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null },
      },
      { type: 'content_block_start', index: 0, content_block: block },
      ...pieces(call ?? draft.answer, draft.cuts).map((text) => ({ type: 'content_block_delta', index: 0, delta: delta(text) })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } },
    ],
    reply: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [call === undefined ? { type: 'text', text: draft.answer } : { ...block, input: JSON.parse(call) as unknown }],
      stop_reason: 'end_turn',
    },
  });
}

interface Parts {
  readonly model: string;
  readonly body: unknown;
  readonly input: number;
  readonly output: number;
  readonly events: readonly object[];
  readonly reply: unknown;
}

function exchange({ kind, isStream, escapes }: Draft, { model, body, input, output, events, reply }: Parts): GeneratedExchange {
  const bytes = (value: unknown) => Buffer.from(escapes ? asciiOf(JSON.stringify(value)) : JSON.stringify(value));
  const stream = Buffer.concat(events.flatMap((event) => [Buffer.from('data: '), bytes(event), Buffer.from('\n\n')]));
  return {
    kind,
    model,
    request: bytes(body),
    response: isStream ? stream : bytes(reply),
    responseKind: isStream ? 'sse' : 'json',
    input,
    output,
  };
}

/** As Python's `json.dumps` writes it. */
function asciiOf(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Deltas of a stream. */
function pieces(text: string, cuts: readonly number[]): string[] {
  const characters = Array.from(text);
  const found: string[] = [];
  for (let at = 0, cut = 0; at < characters.length; cut++) {
    const length = cuts[cut % cuts.length]!;
    found.push(characters.slice(at, at + length).join(''));
    at += length;
  }
  return found;
}

function argumentsOf({ answer }: Draft): string {
  return JSON.stringify({ location: answer.slice(0, 300), unit: 'celsius', days_ahead: 3 });
}

function imageOf({ kind, pick }: Draft, family: Family): { readonly url: string; readonly tokens: number } | undefined {
  if (kind !== 'image') return undefined;
  const [size, tokens] = pickFrom(Object.entries(family.images), pick);
  const [width, height] = size.split('x').map(Number) as [number, number];
  const header = Buffer.from('89504e470d0a1a0a0000000d4948445200000000000000000802000000', 'hex');
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  const file = Buffer.concat([header, Buffer.alloc(2_000 + (pick % 30_000), `${pick}`)]);
  return { url: `data:image/png;base64,${file.toString('base64')}`, tokens };
}

function pickFrom<Item>(items: readonly Item[], pick: number): Item {
  return items[(pick >> 3) % items.length]!;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
