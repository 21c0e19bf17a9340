/** Stream formats of providers, and how a client joins their texts. Based on the documentation of each provider, not on the redactor. */

/** One JSON event. */
export type Event = Readonly<Record<string, unknown>>;

/** The alternating texts of one kind of stream, at most two. */
export interface StreamShape {
  readonly name: string;
  /** The event that carries a fragment of one of the texts; `at` numbers the events of the stream. */
  readonly event: (fragment: string, text: number, at: number) => Event;
  /** The text of an event's fragment, and the fragment. */
  readonly fragment: (event: Event) => readonly [text: string, fragment: string] | undefined;
  /** Its path, which is excluded when the rest of an event is compared. */
  readonly path: readonly (string | number)[];
  /** Whether the texts are JSON, as arguments of tools are. */
  readonly isJson?: boolean;
}

const CHUNK = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_767_225_600, model: 'gpt-4o-mini-2024-07-18' };

export function valueAt(event: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string | number, unknown> | undefined)?.[key], event);
}

function objectWith(path: readonly (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  return typeof key === 'number' ? [objectWith(rest, value)] : { [key]: objectWith(rest, value) };
}

/** A chat chunk with the text in its delta. */
function chat(name: string, below: string[], more: { isJson?: boolean; isIndexLast?: boolean } = {}): StreamShape {
  const path = ['choices', 0, 'delta', ...below];
  return {
    name: `chat ${below.join('.')}${name}`,
    path,
    ...more,
    event: (fragment, index, at) => {
      const delta = objectWith(below, fragment);
      const choice = more.isIndexLast === true ? { finish_reason: null, delta, index } : { index, delta, finish_reason: null };
      return { ...CHUNK, choices: [choice], obfuscation: `x${at * 7_919}` };
    },
    fragment: (event) => {
      const fragment = valueAt(event, path);
      return typeof fragment === 'string' ? [String(valueAt(event, ['choices', 0, 'index'])), fragment] : undefined;
    },
  };
}

/** An event of the Responses API, or a similar one. */
function responses(type: string, place: (text: number) => Event, isJson = false): StreamShape {
  return {
    name: type,
    path: ['delta'],
    isJson,
    event: (delta, text, sequence_number) => ({
      type,
      ...place(text),
      delta,
      sequence_number,
      obfuscation: `y${sequence_number * 31}`,
    }),
    fragment: (event) => {
      if (event['type'] !== type) return undefined;
      const id = [event['item_id'], event['output_index'], event['content_index'], event['summary_index']].join('/');
      return [id, String(event['delta'])];
    },
  };
}

/** A delta of a content block of Anthropic's. */
function block(type: string, below: string[], isJson = false): StreamShape {
  const path = ['delta', ...below];
  return {
    name: type,
    path,
    isJson,
    event: (fragment, index) => ({
      type: 'content_block_delta',
      index,
      delta: { type, ...(objectWith(below, fragment) as object) },
    }),
    fragment: (event) => {
      const fragment = event['type'] === 'content_block_delta' ? valueAt(event, path) : undefined;
      return typeof fragment === 'string' ? [String(event['index']), fragment] : undefined;
    },
  };
}

const toolCalls: StreamShape = {
  name: 'chat tool_calls[].function.arguments',
  path: ['choices', 0, 'delta', 'tool_calls', 0, 'function', 'arguments'],
  isJson: true,
  event: (fragment, index, at) => ({
    ...CHUNK,
    choices: [
      {
        index: 0,
        // Only the first fragment of a call identifies it.
        delta: {
          tool_calls: [
            { index, ...(at < 2 ? { id: `call_${index}`, type: 'function' } : {}), function: { arguments: fragment } },
          ],
        },
      },
    ],
  }),
  fragment: (event) => {
    const call = valueAt(event, ['choices', 0, 'delta', 'tool_calls', 0]);
    const fragment = valueAt(call, ['function', 'arguments']);
    return typeof fragment === 'string' ? [String(valueAt(call, ['index'])), fragment] : undefined;
  },
};

const completion: StreamShape = {
  name: 'text completion',
  path: ['choices', 0, 'text'],
  event: (text, index) => ({
    id: 'cmpl-1',
    object: 'text_completion',
    choices: [{ text, index, logprobs: null, finish_reason: null }],
  }),
  fragment: (event) => {
    const fragment = valueAt(event, ['choices', 0, 'text']);
    return typeof fragment === 'string' ? [String(valueAt(event, ['choices', 0, 'index'])), fragment] : undefined;
  },
};

/** One text alone in its stream. */
function single(name: string, event: (fragment: string, at: number) => Event, path: string[]): StreamShape {
  return {
    name,
    path,
    event: (fragment, _, at) => event(fragment, at),
    fragment: (event) => {
      const fragment = valueAt(event, path);
      return typeof fragment === 'string' ? ['', fragment] : undefined;
    },
  };
}

/** Kinds with alternating texts. */
export const TURN_SHAPES: readonly StreamShape[] = [
  chat('', ['content']),
  chat(', index behind delta', ['content'], { isIndexLast: true }),
  chat('', ['refusal']),
  chat('', ['reasoning_content']),
  chat(', index behind delta', ['audio', 'transcript'], { isIndexLast: true }),
  chat('', ['function_call', 'arguments'], { isJson: true }),
  toolCalls,
  completion,
  responses('response.output_text.delta', (text) => ({ item_id: 'msg_1', output_index: 0, content_index: text })),
  responses('response.refusal.delta', (text) => ({ item_id: `msg_${text}`, output_index: text, content_index: 0 })),
  responses('response.function_call_arguments.delta', (text) => ({ item_id: `fc_${text}`, output_index: text }), true),
  responses('response.mcp_call_arguments.delta', (text) => ({ output_index: text, item_id: 'mcp_1' }), true),
  responses('response.reasoning_summary_text.delta', (text) => ({ item_id: 'rs_1', output_index: 0, summary_index: text })),
  responses('response.reasoning_text.delta', (text) => ({ item_id: 'rs_1', output_index: 0, content_index: text })),
  responses('response.output_audio_transcript.delta', (text) => ({ item_id: `item_${text}`, output_index: 0, content_index: 0 })),
  responses('response.custom_tool_call_input.delta', (text) => ({ item_id: `ctc_${text}`, output_index: text })),
  responses('response.code_interpreter_call_code.delta', (text) => ({ item_id: `ci_${text}`, output_index: text })),
  block('text_delta', ['text']),
  block('thinking_delta', ['thinking']),
  block('input_json_delta', ['partial_json'], true),
  block('citations_delta', ['citation', 'cited_text']),
];

/** Kinds with one text. */
export const SINGLE_SHAPES: readonly StreamShape[] = [
  single(
    'response.audio.transcript.delta',
    (delta, sequence_number) => ({ type: 'response.audio.transcript.delta', delta, sequence_number }),
    ['delta'],
  ),
  single('transcript.text.delta', (delta) => ({ type: 'transcript.text.delta', delta }), ['delta']),
  single('a chat of Ollama', (content) => ({ model: 'm', message: { role: 'assistant', content }, done: false }), [
    'message',
    'content',
  ]),
  single('a completion of Ollama', (response) => ({ model: 'm', response, done: false }), ['response']),
  single('a member of any name', (said) => ({ n: 1, said }), ['said']),
];

/** Texts of a stream, joined like in a client. */
export function joinTexts(shape: StreamShape, events: readonly Event[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const event of events) {
    const found = shape.fragment(event);
    if (found !== undefined) texts.set(found[0], (texts.get(found[0]) ?? '') + found[1]);
  }
  return texts;
}
