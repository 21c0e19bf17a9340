import { JsonKeys, keyNumbers } from './json-keys.ts';
import { COUNT, JOIN, SKIP, type JsonStrings, type StringRules, type StringUse } from './json-strings.ts';

const NAMES = [
  'choices',
  'output',
  'content',
  'delta',
  'content_block',
  'item',
  'input',
  'name',
  'text',
  'thinking',
  // No text of the model: names, encrypted text, images and sound.
  'type',
  'role',
  'id',
  'call_id',
  'object',
  'status',
  'finish_reason',
  'stop_reason',
  'signature',
  'encrypted_content',
  'data',
  'result',
  'token',
] as const;
const KEYS = new JsonKeys(NAMES);
const KEY = keyNumbers(NAMES);

/** Counts the model's texts in a response, or in the events of a stream, of which the last repeat it. */
export class ResponseRules implements StringRules {
  readonly keys = KEYS;
  readonly #isStream: boolean;
  /** How many texts were counted: of a stream, the parts that it came in. */
  pieces = 0;
  toolCalls = 0;
  /** Whether there was reasoning. Claude sends a summary of it. */
  hasThinking = false;

  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  /** Claude's arguments of tools are JSON in the response. */
  countsSyntax(place: JsonStrings): boolean {
    return !this.#isStream && place.isInside(KEY.input);
  }

  useOf(place: JsonStrings): StringUse {
    if (!(this.#isStream ? isInEvent(place) : isInBody(place))) return SKIP;
    if (place.key === KEY.name) this.toolCalls++;
    if (place.key === KEY.thinking) this.hasThinking = true;
    this.pieces++;
    return this.#isStream ? JOIN : COUNT;
  }
}

function isInBody(place: JsonStrings): boolean {
  if (place.isInside(KEY.input)) return place.isInside(KEY.content) || place.isInside(KEY.output);
  return place.key < KEY.type && (place.isInside(KEY.choices) || place.isInside(KEY.output) || place.isInside(KEY.content));
}

/** Responses have texts in the root of events, chats and messages below `delta`, completions in the choice. */
function isInEvent(place: JsonStrings): boolean {
  const { key } = place;
  if (place.depth === 1) return key === KEY.delta;
  if (place.isInside(KEY.delta)) return key < KEY.type;
  const parent = place.parent(1);
  if (parent === KEY.content_block) return key === KEY.text || key === KEY.thinking || key === KEY.name;
  return (parent === KEY.item && key === KEY.name) || (parent === KEY.choices && key === KEY.text);
}
