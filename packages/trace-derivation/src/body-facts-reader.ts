import { JsonScanner } from './json-scanner.ts';
import { readUsage, type Usage } from './usage.ts';

/** What a provider's answer says of itself. */
export interface BodyFacts {
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
  /** An error event inside a stream, whose status was 200 long before; never set for JSON. */
  readonly streamError: boolean;
  /** Whether the provider's own end was seen: for JSON that the root closed, for a stream `[DONE]`, `message_stop`, or
   *  `response.completed`, `.incomplete` or `.failed`. */
  readonly ended: boolean;
  /** A response of OpenAI's Responses API; undefined for anything else. */
  readonly response?: ResponseState | undefined;
}

export interface ResponseState {
  readonly id: string;
  /** Whether it is neither queued nor in progress. */
  readonly isFinished: boolean;
  /** Whether it says that it is made in the background. */
  readonly background: boolean;
}

/** Reads facts off a body that passes in pieces. Constant memory, never throws, and how the bytes are cut makes no difference. */
export interface BodyFactsReader {
  push(chunk: Uint8Array): void;
  /** What was seen; of a body that was cut, what it had said until then. */
  end(): BodyFacts;
}

/** Reads the model's name off a JSON request. */
export interface RequestModelReader {
  push(chunk: Uint8Array): void;
  /** Whether more of the body cannot change the answer. */
  readonly done: boolean;
  model(): string | undefined;
}

const MODEL_PATHS = ['model', 'response.model', 'message.model'];
const USAGE_PATHS = ['usage', 'response.usage', 'message.usage'];
const RESPONSE_PATHS: readonly string[] = [...MODEL_PATHS, ...USAGE_PATHS, 'type', 'error'];
/** Of a response: as JSON, and in the events of a stream. */
const STATE_FIELDS = ['id', 'status', 'background'] as const;
const JSON_PATHS: readonly string[] = [...RESPONSE_PATHS, ...STATE_FIELDS];
const EVENT_PATHS: readonly string[] = [...RESPONSE_PATHS, ...STATE_FIELDS.map((field) => `response.${field}`)];
const REQUEST_PATHS: readonly string[] = ['model'];
const BACKGROUND_PATHS: readonly string[] = ['background'];
const ENDS: readonly unknown[] = ['message_stop', 'response.completed', 'response.incomplete', 'response.failed'];
/** Of an event's data and name this much is looked at beside the JSON scanner: a byte order mark and `event` have 8 bytes. */
const HEAD_BYTES = 8;
const DONE = Buffer.from('[DONE]');
const DATA_NAME = Buffer.from('data');
const EVENT_NAME = Buffer.from('event');
const ERROR_NAME = Buffer.from('error');
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const LF_BYTES = Uint8Array.of(LF);

export function openBodyFactsReader(kind: 'json' | 'sse'): BodyFactsReader {
  return kind === 'json' ? new JsonFactsReader() : new SseFactsReader();
}

/** Of a repeated `model` the first one counts: scanning stops there, which spares the rest of long requests. */
export function openRequestModelReader(): RequestModelReader {
  const scanner = new JsonScanner(REQUEST_PATHS, { stopAtFirst: true });
  return {
    push: (chunk) => scanner.push(chunk),
    get done() {
      return scanner.done;
    },
    model: () => modelOf(scanner.value('model')),
  };
}

/** Whether the JSON of a request asks for a response in the background. */
export function asksForBackground(body: Uint8Array): boolean {
  const scanner = new JsonScanner(BACKGROUND_PATHS);
  scanner.push(body);
  return scanner.value('background') === true;
}

class JsonFactsReader implements BodyFactsReader {
  readonly #scanner = new JsonScanner(JSON_PATHS);

  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk);
  }

  end(): BodyFacts {
    const scanner = this.#scanner;
    const response = stateIn(scanner, '');
    const facts = { model: modelIn(scanner), usage: usageIn(scanner, undefined), streamError: false, ended: scanner.closed };
    return response === undefined ? facts : { ...facts, response };
  }
}

// What the next byte of a stream belongs to.
const FIELD_NAME = 0;
const AFTER_COLON = 1;
const FIELD_VALUE = 2;

// Fields by what is done with their values.
const OTHER = 0;
const DATA = 1;
const EVENT = 2;

/** Server-sent events as the WHATWG standard reads them, except that the last event needs no blank line.
 *  Cost: about 0.6 ns per byte of events that say nothing that counts, 7 ns of others. */
class SseFactsReader implements BodyFactsReader {
  #scanner = new JsonScanner(EVENT_PATHS);
  readonly #name = new Head();
  readonly #data = new Head();
  readonly #event = new Head();
  #state = FIELD_NAME;
  #field = OTHER;
  #hasData = false;
  /** The last byte was a CR: a LF right after it belongs to it. */
  #isAfterCr = false;
  #isFirstLine = true;
  #model: string | undefined;
  #usage: Usage | undefined;
  #response: ResponseState | undefined;
  #streamError = false;
  #ended = false;

  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#isBetweenEvents()) at = afterDullEvents(chunk, at, this.#model === undefined ? tellingOrModel : telling);
      if (at < chunk.length) at = this.#walkEvent(chunk, at);
    }
  }

  end(): BodyFacts {
    this.#endEvent();
    const facts = { model: this.#model, usage: this.#usage, streamError: this.#streamError, ended: this.#ended };
    const response = this.#response;
    return response === undefined
      ? facts
      : { ...facts, response: { ...response, isFinished: this.#ended || response.isFinished } };
  }

  #isBetweenEvents(): boolean {
    // After a CR too: the LF that may follow would be a blank line, which changes nothing here.
    const isLineStart = this.#state === FIELD_NAME && this.#name.length === 0 && !this.#isFirstLine;
    return isLineStart && !this.#hasData && this.#event.length === 0;
  }

  #walkEvent(chunk: Uint8Array, start: number): number {
    let at = start;
    while (at < chunk.length) {
      if (this.#isAfterCr) {
        this.#isAfterCr = false;
        if (chunk[at] === LF) at++;
      } else if (this.#state === FIELD_VALUE) at = this.#walkValue(chunk, at);
      else if (this.#state === FIELD_NAME) at = this.#walkName(chunk, at);
      else {
        if (chunk[at] === SPACE) at++;
        this.#state = FIELD_VALUE;
      }
      if (this.#isBetweenEvents()) break;
    }
    return at;
  }

  #walkName(chunk: Uint8Array, at: number): number {
    const byte = chunk[at]!;
    if (byte === LF || byte === CR) {
      this.#isAfterCr = byte === CR;
      this.#endLine();
    } else if (byte === COLON) {
      this.#startField();
      this.#state = AFTER_COLON;
    } else this.#name.push(byte);
    return at + 1;
  }

  #walkValue(chunk: Uint8Array, start: number): number {
    const length = chunk.length | 0;
    let end = start | 0;
    for (; end < length; end++) {
      const byte = chunk[end]!;
      if (byte <= CR && (byte === LF || byte === CR)) break;
    }
    if (this.#field !== OTHER) {
      const head = this.#field === DATA ? this.#data : this.#event;
      for (let at = start; at < end && head.length <= HEAD_BYTES; at++) head.push(chunk[at]!);
      if (this.#field === DATA) this.#scanner.push(chunk, start, end);
    }
    if (end === length) return end;
    this.#isAfterCr = chunk[end] === CR;
    this.#endLine();
    return end + 1;
  }

  #startField(): void {
    if (this.#isFirstLine) this.#name.drop(BYTE_ORDER_MARK);
    this.#field = this.#name.is(DATA_NAME) ? DATA : this.#name.is(EVENT_NAME) ? EVENT : OTHER;
    if (this.#field === EVENT) this.#event.length = 0;
    if (this.#field !== DATA) return;
    if (this.#hasData) {
      this.#scanner.push(LF_BYTES);
      this.#data.push(LF);
    }
    this.#hasData = true;
  }

  #endLine(): void {
    if (this.#state === FIELD_NAME) {
      if (this.#name.length === 0) this.#endEvent();
      else this.#startField();
    }
    this.#state = FIELD_NAME;
    this.#name.length = 0;
    this.#isFirstLine = false;
  }

  #endEvent(): void {
    if (this.#hasData) this.#readEvent();
    this.#hasData = false;
    this.#data.length = 0;
    this.#event.length = 0;
    this.#scanner.reset();
  }

  #readEvent(): void {
    const scanner = this.#scanner;
    const type = scanner.value('type');
    const error = scanner.value('error');
    const model = this.#model ?? modelIn(scanner);
    const isEnd = ENDS.includes(type);
    // Only of events that are never passed over, or it would depend on how the bytes are cut.
    if (this.#response === undefined && (isEnd || this.#model !== model)) this.#readResponse();
    this.#model = model;
    this.#usage = usageIn(scanner, this.#usage);
    if (this.#data.is(DONE) || isEnd) this.#ended = true;
    if (type === 'error' || type === 'response.failed' || this.#event.is(ERROR_NAME)) this.#streamError = true;
    if (typeof error === 'string' || (typeof error === 'object' && error !== null)) this.#streamError = true;
  }

  /** All events of a response are of the same one: what follows is read without looking for it, which took 2 µs a stream. */
  #readResponse(): void {
    this.#response = stateIn(this.#scanner, 'response.');
    if (this.#response !== undefined) this.#scanner = new JsonScanner(RESPONSE_PATHS);
  }
}

/** The first bytes of something, and how many came: enough to tell the few words that matter from all others. */
class Head {
  readonly #bytes: number[] = [];
  length = 0;

  push(byte: number): void {
    if (this.length < HEAD_BYTES) this.#bytes[this.length] = byte;
    this.length++;
  }

  is(word: Uint8Array): boolean {
    if (this.length !== word.length) return false;
    for (let at = 0; at < word.length; at++) if (word[at] !== this.#bytes[at]) return false;
    return true;
  }

  /** Takes `prefix` off the front, where it is there. */
  drop(prefix: readonly number[]): void {
    if (this.length < prefix.length || !prefix.every((byte, at) => byte === this.#bytes[at])) return;
    this.#bytes.splice(0, prefix.length);
    this.length -= prefix.length;
  }
}

/** Finds the first of a few words in one pass that looks at every third pair of bytes only (as Wu and Manber do): each
 *  word has an anchor, four bytes of it that are rare elsewhere, and one of the anchor's three pairs is looked at. */
class WordFinder {
  readonly #listOfPair = new Uint8Array(65_536);
  readonly #lists: { readonly word: Uint8Array; readonly back: number }[][] = [[]];

  constructor(words: readonly (readonly [word: string, anchor: string])[]) {
    for (const [word, anchor] of words) {
      const bytes = Buffer.from(word);
      for (let at = 0; at < 3; at++) {
        const pair = (anchor.charCodeAt(at) << 8) | anchor.charCodeAt(at + 1);
        if (this.#listOfPair[pair] === 0) this.#listOfPair[pair] = this.#lists.push([]) - 1;
        this.#lists[this.#listOfPair[pair]!]!.push({ word: bytes, back: word.indexOf(anchor) + at + 1 });
      }
    }
  }

  /** Where the first word at or after `start` begins; -1 without one. */
  indexIn(chunk: Uint8Array, start: number): number {
    const listOfPair = this.#listOfPair;
    // `| 0` as in JsonScanner.
    const length = chunk.length | 0;
    for (let at = (start | 0) + 3; at < length; at += 3) {
      const list = listOfPair[(chunk[at - 1]! << 8) | chunk[at]!]!;
      if (list === 0) continue;
      for (const { word, back } of this.#lists[list]!)
        if (at - back >= start && startsWith(chunk, at - back, word)) return at - back;
    }
    return -1;
  }
}

function startsWith(chunk: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let at = 0; at < word.length; at++) if (chunk[start + at] !== word[at]) return false;
  return true;
}

const USAGE = '"usage"';
// Without one of these an event says nothing that counts: keys, types, `event: error`, and letters written as escapes.
const TELLING: readonly (readonly [string, string])[] = [
  [USAGE, 'usag'],
  ['error', 'rror'],
  ['message_stop', 'e_st'],
  ['.completed"', 'mple'],
  ['.incomplete"', 'mple'],
  ['.failed"', 'iled'],
  ['[DONE]', 'DONE'],
  ['\\u00', '\\u00'],
];
const telling = new WordFinder(TELLING);
const tellingOrModel = new WordFinder([...TELLING, ['"model"', 'mode']]);

/** Passes over whole events that cannot change the facts: from `start`, between two events, to the end of the last event
 *  before a telling word. Most events of a stream are such; this costs a tenth of walking them, and may only err by
 *  walking too much (the property test of this file holds it to that). */
function afterDullEvents(chunk: Uint8Array, start: number, finder: WordFinder): number {
  let word = finder.indexIn(chunk, start);
  // Streams that report usage at their end say `"usage":null` until then.
  while (word >= 0 && isNullUsage(chunk, word)) word = finder.indexIn(chunk, word + USAGE.length);
  for (let at = (word < 0 ? chunk.length : word) | 0; at > start + 1; at--) {
    if (chunk[at - 1] !== LF) continue;
    if (chunk[at - 2] === LF || (chunk[at - 2] === CR && at > start + 2 && chunk[at - 3] === LF)) return at;
  }
  return start;
}

function isNullUsage(chunk: Uint8Array, at: number): boolean {
  if (chunk[at] !== 0x22 || chunk[at + 1] !== 0x75 || chunk[at + USAGE.length] !== COLON) return false;
  const value = at + USAGE.length + (chunk[at + USAGE.length + 1] === SPACE ? 2 : 1);
  // Nothing else in JSON begins with an n.
  return chunk[value] === 0x6e;
}

function modelIn(scanner: JsonScanner): string | undefined {
  for (const path of MODEL_PATHS) {
    const model = modelOf(scanner.value(path));
    if (model !== undefined) return model;
  }
  return undefined;
}

function stateIn(scanner: JsonScanner, prefix: '' | 'response.'): ResponseState | undefined {
  const id = scanner.value(`${prefix}id`);
  const status = scanner.value(`${prefix}status`);
  if (typeof id !== 'string' || typeof status !== 'string') return undefined;
  const isFinished = status !== 'queued' && status !== 'in_progress';
  return { id, isFinished, background: scanner.value(`${prefix}background`) === true };
}

/** A model's name is text of at most 256 characters without control characters (PostgreSQL cannot store all of those). */
export function modelOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^\P{Cc}{1,256}$/u.test(value) ? value : undefined;
}

function usageIn(scanner: JsonScanner, previous: Usage | undefined): Usage | undefined {
  const raw = USAGE_PATHS.map((path) => scanner.value(path)).find((value) => value !== undefined && value !== null);
  return typeof raw === 'object' ? readUsage(raw, previous) : previous;
}
