import { ASCII } from './character-codes.ts';
import {
  detailsIn,
  EVENT_PATHS,
  ListedFacts,
  modelIn,
  stateIn,
  usageIn,
  type BodyFacts,
  type BodyFactsReader,
  type ResponseState,
} from './body-facts.ts';
import { EventSizes } from './event-sizes.ts';
import { HostedCallCount } from './hosted-calls.ts';
import { JsonScanner } from './json-scanner.ts';
import { skipIrrelevantEvents } from './skip-events.ts';
import { fieldsOf, type Fields, type UsageReport } from './usage-report.ts';

const { COLON, CR, LF, SPACE } = ASCII;

const ENDS: readonly unknown[] = ['message_stop', 'response.completed', 'response.incomplete', 'response.failed'];
/** Bytes of an event's data and name that are compared outside the JSON scanner: a byte order mark and `event` have 8 bytes. */
const HEAD_BYTES = 8;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';
const LF_BYTES = Uint8Array.of(LF);

/** Events of Anthropic that are not known; a usage in them counts something else. */
const UNKNOWN_MESSAGE = /^message_(?!start$|delta$|stop$)/;

// The state of the stream parser.
const FIELD_NAME = 0;
const AFTER_COLON = 1;
const FIELD_VALUE = 2;

/** Parses server-sent events by the WHATWG standard, except that the last event needs no blank line. */
export class SseFactsReader implements BodyFactsReader {
  readonly #scanner: JsonScanner = new JsonScanner(EVENT_PATHS, (path, index) => this.#readElement(path, index));
  /** The lists of the last event, and the calls of earlier ones. */
  readonly #lists = new ListedFacts('response.');
  readonly #calls = new HostedCallCount();
  readonly #sizes = new EventSizes();
  /** The beginnings of the field's name, of the event's data and of its name, long enough to recognise the few relevant words. */
  #name = '';
  #data = '';
  #event = '';
  #state = FIELD_NAME;
  /** The name of the field whose value is being read. */
  #field = '';
  #hasData = false;
  /** The last byte was a CR: an LF right after it belongs to it. */
  #isAfterCr = false;
  #isFirstLine = true;
  #model: string | undefined;
  #usage: UsageReport | undefined;
  #isUsageFinal = false;
  #details: Fields = {};
  #response: ResponseState | undefined;
  /** Whether the event has elements in `choices`. */
  #hasChoices = false;
  #streamError = false;
  #ended = false;

  push(chunk: Uint8Array): void {
    const text = textIn(chunk, 0, chunk.length);
    this.#sizes.push(text);
    let at = 0;
    // If no event ends before a word, none ends there one line later either. Searching again for each line would not be linear.
    let searchedUpTo = 0;
    while (at < chunk.length) {
      if (at >= searchedUpTo && this.#isBetweenEvents()) {
        const { end, word } = skipIrrelevantEvents(text, at, this.#model === undefined);
        at = end;
        searchedUpTo = word;
      }
      if (at < chunk.length) at = this.#walkEvent(chunk, at);
    }
  }

  end(): BodyFacts {
    this.#endEvent();
    this.#sizes.end();
    const response = this.#response;
    return {
      model: this.#model,
      usage: this.#usage,
      isUsageFinal: this.#isUsageFinal,
      streamError: this.#streamError,
      ended: this.#ended,
      details: this.#details,
      calls: this.#lists.calls ?? this.#calls.calls,
      tools: this.#lists.tools,
      text: { bytes: this.#sizes.textBytes, events: this.#sizes.events },
      response: response && { ...response, isFinished: this.#ended || response.isFinished },
    };
  }

  #isBetweenEvents(): boolean {
    // Also after a CR, because a following LF would be a blank line, which has no effect here.
    const isLineStart = this.#state === FIELD_NAME && this.#name === '' && !this.#isFirstLine;
    return isLineStart && !this.#hasData && this.#event === '';
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
    } else if (this.#name.length <= HEAD_BYTES) this.#name += String.fromCharCode(byte);
    return at + 1;
  }

  #walkValue(chunk: Uint8Array, start: number): number {
    const length = chunk.length | 0;
    let end = start | 0;
    for (; end < length; end++) {
      const byte = chunk[end]!;
      if (byte <= CR && (byte === LF || byte === CR)) break;
    }
    if (this.#field === 'data') {
      if (this.#data.length <= HEAD_BYTES) this.#data += headIn(chunk, start, end);
      this.#scanner.push(chunk, start, end);
    } else if (this.#field === 'event' && this.#event.length <= HEAD_BYTES) this.#event += headIn(chunk, start, end);
    if (end === length) return end;
    this.#isAfterCr = chunk[end] === CR;
    this.#endLine();
    return end + 1;
  }

  #startField(): void {
    if (this.#isFirstLine && this.#name.startsWith(BYTE_ORDER_MARK)) this.#name = this.#name.slice(BYTE_ORDER_MARK.length);
    this.#field = this.#name;
    if (this.#field === 'event') this.#event = '';
    if (this.#field !== 'data') return;
    if (this.#hasData) {
      this.#scanner.push(LF_BYTES);
      if (this.#data.length <= HEAD_BYTES) this.#data += '\n';
    }
    this.#hasData = true;
  }

  #endLine(): void {
    if (this.#state === FIELD_NAME) {
      if (this.#name === '') this.#endEvent();
      else this.#startField();
    }
    this.#state = FIELD_NAME;
    this.#name = '';
    this.#isFirstLine = false;
  }

  #endEvent(): void {
    if (this.#hasData) this.#readEvent();
    this.#hasData = false;
    this.#data = '';
    this.#event = '';
    this.#hasChoices = false;
    this.#scanner.reset();
  }

  #readElement(path: string, index: number): void {
    if (path === 'choices[]') this.#hasChoices = true;
    else this.#lists.add(this.#scanner, path, index);
  }

  #readEvent(): void {
    const scanner = this.#scanner;
    const type = scanner.value('type');
    const error = scanner.value('error');
    const model = this.#model ?? modelIn(scanner);
    const isEnd = ENDS.includes(type);
    const usage = typeof type === 'string' && UNKNOWN_MESSAGE.test(type) ? this.#usage : usageIn(scanner, this.#usage);
    // Only of events that are never skipped, because otherwise it would depend on the segmentation.
    if (isEnd || this.#model !== model) this.#response ??= stateIn(scanner, 'response.');
    if (isEnd || this.#model !== model || this.#usage !== usage)
      this.#details = detailsIn(scanner, 'response.', detailsIn(scanner, '', this.#details));
    this.#model = model;
    if (this.#usage !== usage) this.#isUsageFinal = this.#hasFinalUsage(type);
    this.#usage = usage;
    if (type === 'response.output_item.done') this.#calls.add(scanner, 'item');
    if (type === 'content_block_start') this.#calls.add(scanner, 'content_block');
    if (this.#data === '[DONE]' || isEnd) this.#ended = true;
    if (type === 'error' || type === 'response.failed' || this.#event === 'error') this.#streamError = true;
    if (typeof error === 'string' || (typeof error === 'object' && error !== null)) this.#streamError = true;
  }

  /** Whether the usage of this event is the last: beside a stop reason at Anthropic, without further choices in a chat, and of the whole run of
   *  an assistant. */
  #hasFinalUsage(type: unknown): boolean {
    if (type === 'message_start') return false;
    if (type === 'message_delta') return typeof fieldsOf(this.#scanner.value('delta'))['stop_reason'] === 'string';
    return !this.#hasChoices && this.#scanner.value('object') !== 'thread.run.step';
  }
}

/** The first bytes, as characters. */
function headIn(chunk: Uint8Array, start: number, end: number): string {
  return textIn(chunk, start, Math.min(end, start + HEAD_BYTES + 1));
}

/** A character for each byte. */
function textIn(chunk: Uint8Array, start: number, end: number): string {
  return Buffer.from(chunk.buffer, chunk.byteOffset + start, end - start).toString('latin1');
}
