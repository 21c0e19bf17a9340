import { ImageTokens } from './image-tokens.ts';
import { JsonKeys, keyNumbers } from './json-keys.ts';
import { COUNT, HOLD, JsonStrings, SKIP, type StringRules, type StringUse } from './json-strings.ts';
import { mediaOf } from './media-of.ts';
import { isClaude, tokenizerOf } from './tokenizers.ts';

const NAMES = [
  'type',
  'tools',
  'functions',
  'source',
  'data',
  'url',
  'image_url',
  'input_audio',
  'file_data',
  'file_id',
  'file_url',
  'encrypted_content',
  'signature',
  'previous_response_id',
  'conversation',
  'prompt',
  'result',
] as const;
const KEYS = new JsonKeys(NAMES);
const KEY = keyNumbers(NAMES);

/** What precedes the messages. */
const BASE_TOKENS = 16;
/** A system prompt about tools: Claude's have 159 to 804 tokens (platform.claude.com/docs/en/agents-and-tools/tool-use/overview), OpenAI's some 20. */
const CLAUDE_TOOLS_TOKENS = 804;
const TOOLS_TOKENS = 32;
/** What the provider adds that no request has: the conversation so far, or a file that was uploaded. There is no bound but the model's context. */
const UNSEEN_TOKENS = 100_000;
/** A document has at most 100 pages, each with an image and up to 3,000 tokens of text, and seldom less than a byte per token. */
const MAX_DOCUMENT_TOKENS = 100 * (3_000 + 1_600);
/** OpenAI counts ten tokens per second of audio. */
const AUDIO_TOKENS_PER_SECOND = 10;
/** Encrypted reasoning has more than four bytes for a token of it. */
const ENCRYPTED_TOKENS_PER_BYTE = 0.5;

/** An upper bound of the input tokens of a request to OpenAI (chat, responses, completions, embeddings) or Anthropic (messages), from its JSON as it
 *  passes. Everything that is written counts as text, also what only serves as a name. Images count by their size, wherever the request has them as
 *  base64, else like photographs. Constant memory, independent of the segmentation; never throws. About 3 ns per byte, half of it for base64. */
export class InputEstimate {
  readonly #rules = new RequestRules();
  readonly #json = new JsonStrings(this.#rules);

  push(chunk: Uint8Array): void {
    this.#json.push(chunk);
  }

  /** The bound for the model that is priced. */
  tokens(model = ''): number {
    const { images, other, audio, hasTools } = this.#rules;
    const tools = isClaude(model) ? CLAUDE_TOOLS_TOKENS : TOOLS_TOKENS;
    const text = this.#json.text.tokens(tokenizerOf(model));
    if (text === 0) return 0;
    return Math.ceil(BASE_TOKENS + text + (hasTools ? tools : 0) + images.tokens(model) + other + audio);
  }

  /** How many of `tokens` are audio. */
  get audioTokens(): number {
    return Math.ceil(this.#rules.audio);
  }
}

class RequestRules implements StringRules {
  readonly keys = KEYS;
  readonly images = new ImageTokens();
  /** Tokens of documents, of encrypted reasoning, and of what is not in the request. */
  other = 0;
  audio = 0;
  hasTools = false;
  /** For each depth, whether its object says that it is an image. */
  readonly #isImage: boolean[] = [];
  /** How the string that is passed over counts. */
  #tokensPerByte = 0;
  #isAudio = false;

  countsSyntax(): boolean {
    return true;
  }

  opened(place: JsonStrings): void {
    this.#isImage[place.depth] = false;
    if (place.key === KEY.tools || place.key === KEY.functions) this.hasTools = true;
    // A conversation or a prompt that the provider keeps.
    if (place.depth === 2 && (place.key === KEY.conversation || place.key === KEY.prompt)) this.other += UNSEEN_TOKENS;
  }

  useOf(place: JsonStrings): StringUse {
    switch (place.key) {
      case KEY.type:
      case KEY.image_url:
      case KEY.file_data:
        return HOLD;
      case KEY.data:
        return place.parent(1) === KEY.source || place.parent(1) === KEY.input_audio ? HOLD : COUNT;
      case KEY.url:
        if (place.parent(1) === KEY.source) this.#addReference(place);
        return place.parent(1) === KEY.image_url ? HOLD : COUNT;
      case KEY.file_id:
      case KEY.file_url:
        this.#addReference(place);
        return COUNT;
      case KEY.previous_response_id:
      case KEY.conversation:
        if (place.depth === 1) this.other += UNSEEN_TOKENS;
        return COUNT;
      case KEY.encrypted_content:
      case KEY.signature:
        this.#tokensPerByte = ENCRYPTED_TOKENS_PER_BYTE;
        return SKIP;
      // A generated image.
      case KEY.result:
        return this.#isImage[place.depth] ? HOLD : COUNT;
      default:
        return COUNT;
    }
  }

  held(place: JsonStrings, head: Buffer): boolean {
    if (place.key === KEY.type) {
      this.#isImage[place.depth] = /image|screenshot/.test(head.toString('latin1', 0, 32));
      return true;
    }
    const media = mediaOf(head);
    if (media === undefined) {
      if (place.key === KEY.image_url || place.key === KEY.url) this.images.add();
      return true;
    }
    this.#tokensPerByte = 0;
    this.#isAudio = media.kind === 'audio';
    if (media.kind === 'image') this.images.add(media.width, media.height);
    else if (media.kind === 'document') this.#tokensPerByte = 3 / 4;
    else this.#tokensPerByte = ((3 / 4) * AUDIO_TOKENS_PER_SECOND) / media.bytesPerSecond;
    return false;
  }

  passed(_place: JsonStrings, bytes: number): void {
    const tokens = bytes * this.#tokensPerByte;
    if (this.#isAudio) this.audio += tokens;
    else this.other += Math.min(tokens, MAX_DOCUMENT_TOKENS);
    this.#isAudio = false;
  }

  /** A file or an address of one: an image if the object around it says so. */
  #addReference(place: JsonStrings): void {
    const isImage = this.#isImage[place.depth] || (place.parent(1) === KEY.source && this.#isImage[place.depth - 1]);
    if (isImage) this.images.add();
    else this.other += UNSEEN_TOKENS;
  }
}
