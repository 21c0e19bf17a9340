import { JsonStrings } from './json-strings.ts';
import { ResponseRules } from './response-rules.ts';
import { isClaude, tokenizerOf } from './tokenizers.ts';

const LF = 0x0a;
const CR = 0x0d;
const DATA = Buffer.from('data:');

interface OutputContext {
  /** The model that is priced. */
  readonly model?: string | undefined;
  /** The most tokens that the request allows, with reasoning, for all choices together. */
  readonly limit?: number | undefined;
  /** How long the provider may have generated. */
  readonly elapsedMs?: number | undefined;
  /** Whether the provider may have generated more than has arrived, because the response was cut. */
  readonly isCut?: boolean | undefined;
}

/** What a provider generates until it notices a closed connection: a second of the fastest models. */
const CUT_TOKENS = 256;
/** Output that is billed and not sent. OpenAI recommends to reserve as much (developers.openai.com/api/docs/guides/reasoning). */
const HIDDEN_TOKENS = 25_000;
/** Twice the fastest model of both providers in public measurements. */
const TOKENS_PER_SECOND = 500;
const BASE_TOKENS = 8;
/** How a tool call is written beside its name and arguments. */
const TOOL_CALL_TOKENS = 16;
const CLAUDE_TOOL_CALL_TOKENS = 64;
/** Models of OpenAI that reason, unless they are made for chats. */
const REASONING_MODELS = /(?:^|[^a-z])(?:o\d|gpt-[5-9]|codex|computer-use)/i;

/** An upper bound of the output tokens of a response that reports none, from its body as it passes: the text of OpenAI's chat, responses and
 *  completions, and of Anthropic's messages. What surrounds the text does not count.
 *
 *  Reasoning that is billed and not sent cannot be seen. Where there may be some, its bound is the request's limit, `TOKENS_PER_SECOND` for the time
 *  that passed, and `HIDDEN_TOKENS`, the least of them. A response that was cut may have had `CUT_TOKENS` more, and as much as hidden reasoning when
 *  nothing arrived.
 *  Constant memory, independent of the segmentation; never throws. About 4 ns per byte of a stream. */
export class OutputEstimate {
  readonly #rules: ResponseRules;
  readonly #json: JsonStrings;
  readonly #isStream: boolean;
  /** How many bytes of the line match `DATA`, all in the rest of a line of data; -1 in any other line. */
  #matched = 0;

  constructor(kind: 'json' | 'sse') {
    this.#isStream = kind === 'sse';
    this.#rules = new ResponseRules(this.#isStream);
    this.#json = new JsonStrings(this.#rules);
  }

  push(chunk: Uint8Array): void {
    if (!this.#isStream) return this.#json.push(chunk);
    let at = 0;
    while (at < chunk.length)
      at = this.#matched === DATA.length || this.#matched < 0 ? this.#walkLine(chunk, at) : this.#startLine(chunk, at);
  }

  tokens(context: OutputContext = {}): number {
    const { pieces, toolCalls, hasThinking } = this.#rules;
    // A piece of a stream has at least one token.
    return outputBound(
      { text: Math.max(pieces, this.#json.text.tokens(tokenizerOf(context.model ?? ''))), toolCalls, hasThinking },
      context,
    );
  }

  #startLine(chunk: Uint8Array, at: number): number {
    const byte = chunk[at]!;
    if (byte === DATA[this.#matched]) this.#matched++;
    else if (byte === LF || byte === CR) {
      // An empty line ends the event.
      if (this.#matched === 0) this.#json.reset();
      this.#matched = 0;
    } else this.#matched = -1;
    return at + 1;
  }

  #walkLine(chunk: Uint8Array, at: number): number {
    const found = chunk.indexOf(LF, at);
    const end = found < 0 ? chunk.length : found;
    if (this.#matched > 0) this.#json.push(chunk, at, end);
    if (found < 0) return end;
    this.#matched = 0;
    return end + 1;
  }
}

/** The bound for a response that has `text` tokens. */
export function outputBound(
  { text, toolCalls, hasThinking }: { readonly text: number; readonly toolCalls: number; readonly hasThinking: boolean },
  { model = '', limit = Infinity, elapsedMs = Infinity, isCut = false }: OutputContext,
): number {
  const perCall = isClaude(model) ? CLAUDE_TOOL_CALL_TOKENS : TOOL_CALL_TOKENS;
  const seen = text === 0 ? 0 : BASE_TOKENS + text + toolCalls * perCall;
  const mayHide = (REASONING_MODELS.test(model) && !model.includes('-chat')) || hasThinking || (isCut && text === 0);
  const hidden = mayHide ? Math.min(HIDDEN_TOKENS, (elapsedMs / 1_000) * TOKENS_PER_SECOND) : 0;
  return Math.ceil(Math.min(limit, seen + hidden + (isCut ? CUT_TOKENS : 0)));
}
