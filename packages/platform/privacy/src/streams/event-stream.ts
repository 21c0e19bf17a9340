import { isDelta, keyOf, readEvent, type TextLeaf } from './event-leaves.ts';
import { linesOf, type Framing } from '../bodies/body-framing.ts';
import { decodedString, endOfString, isSpace } from '../bodies/json-text.ts';
import { countBefore, type Span } from '../text-edit.ts';

/** A `data` line: where it starts, and the span of its data. */
interface DataLine extends Span {
  readonly lineStart: number;
}

/** An event with its JSON in several `data` lines. */
export interface SplitEvent {
  readonly data: string;
  /** Its lines, and the positions of their data in `data`. */
  readonly parts: readonly (DataLine & { readonly at: number })[];
}

/** The texts and split events of a stream. */
interface EventStream {
  /** In the order in which they begin. */
  readonly texts: Iterable<StreamText>;
  readonly splitEvents: readonly SplitEvent[];
}

const DATA = 'data:';
const RECORD_SEPARATOR = 0x1e;

/** Reads the texts of a stream, event by event. Cut or broken events count as far as they can be read. */
export function readEventStream(text: string, framing: Framing): EventStream {
  const reader = new EventStreamReader(text);
  if (framing === 'sse') reader.readEvents();
  else reader.readLines();
  return { texts: reader.texts.values(), splitEvents: reader.splitEvents };
}

class EventStreamReader {
  readonly texts = new Map<string, StreamText>();
  readonly splitEvents: SplitEvent[] = [];
  readonly #stream: string;

  constructor(stream: string) {
    this.#stream = stream;
  }

  /** Server-sent events: a blank line ends each. */
  readEvents(): void {
    let lines: DataLine[] = [];
    for (const { start, end } of linesOf(this.#stream)) {
      const from = start === 0 ? afterByteOrderMark(this.#stream) : start;
      if (from === end) {
        this.#readEvent(lines);
        lines = [];
      } else if (this.#stream.startsWith(DATA, from)) {
        const data = from + DATA.length;
        lines.push({ lineStart: start, start: data < end && this.#stream[data] === ' ' ? data + 1 : data, end });
      }
    }
    this.#readEvent(lines);
  }

  readLines(): void {
    const stream = this.#stream;
    for (const { start, end } of linesOf(stream, false)) {
      let from = start === 0 ? afterByteOrderMark(stream) : start;
      while (from < end && (isSpace(stream.charCodeAt(from)) || stream.charCodeAt(from) === RECORD_SEPARATOR)) from += 1;
      if (from === end || !'{["'.includes(stream[from] ?? '')) continue;
      // A string is a value only when the line has nothing else. In JSON over several lines it may be a name.
      if (stream[from] === '"' && stream.slice(endOfString(stream, from + 1, end) + 1, end).trim() !== '') continue;
      this.#addTexts(readEvent(stream, from, end).texts);
    }
  }

  /** Several data lines are one value if they form JSON together. Otherwise each is an event with a missing blank line. */
  #readEvent(lines: readonly DataLine[]): void {
    const data = lines.length < 2 ? '' : lines.map(({ start, end }) => this.#stream.slice(start, end)).join('\n');
    if (data === '' || !isJson(data)) {
      for (const { start, end } of lines) this.#addTexts(readEvent(this.#stream, start, end).texts);
      return;
    }
    let at = 0;
    const parts = lines.map((line) => {
      const part = { ...line, at };
      at += line.end - line.start + 1;
      return part;
    });
    const event = { data, parts };
    this.splitEvents.push(event);
    const leaves = readEvent(data, 0, data.length).texts;
    // No string spans several lines.
    this.#addTexts(leaves, (start) => placeInBody(event, start - 1) + 1);
  }

  #addTexts(leaves: readonly TextLeaf[], placeOf: (start: number) => number = (start) => start): void {
    for (const leaf of leaves) {
      const key = keyOf(leaf);
      let text = this.texts.get(key);
      if (text === undefined) this.texts.set(key, (text = new StreamText(isDelta(leaf))));
      const start = placeOf(leaf.start);
      text.add(this.#stream, start, start + leaf.end - leaf.start);
    }
  }
}

/** Matches in text decoded as UTF-8 or latin-1. */
function afterByteOrderMark(text: string): number {
  if (text.charCodeAt(0) === 0xfeff) return 1;
  return text.startsWith('\u00ef\u00bb\u00bf') ? 3 : 0;
}

/** The position in the body of a character of a split event. */
export function placeInBody({ parts }: SplitEvent, at: number): number {
  const part = parts[countBefore(parts.length, (index) => (parts[index]?.at ?? 0) <= at) - 1];
  return part === undefined ? at : part.start + at - part.at;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A text in fragments over the events of a stream: the output of one choice, block, tool call or item. */
export class StreamText {
  /** Whether its events declare fragments. Otherwise they may also contain complete texts. */
  readonly isDelta: boolean;
  /** Positions of the fragments, between their quotes. */
  readonly spans: Span[] = [];
  /** The decoded fragments, joined. */
  joined = '';
  #first = '';
  #isConstant = true;

  constructor(isDelta: boolean) {
    this.isDelta = isDelta;
  }

  add(stream: string, start: number, end: number): void {
    const fragment = fragmentAt(stream, start, end);
    if (this.spans.length === 0) this.#first = fragment;
    else if (this.#isConstant) this.#isConstant = fragment === this.#first;
    this.spans.push({ start, end });
    this.joined += fragment;
  }

  /** Whether it has fragments to be joined. A value repeated by all events does not count. */
  get isFragmented(): boolean {
    return !this.#isConstant;
  }

  /** Whether a cut stream may contain only its beginning. */
  get isOpenEnded(): boolean {
    return this.isFragmented || (this.isDelta && this.spans.length === 1);
  }

  /** The decoded fragments and their positions. */
  *fragmentsIn(stream: string): Generator<Span & { readonly fragment: string }> {
    for (const { start, end } of this.spans) yield { start, end, fragment: fragmentAt(stream, start, end) };
  }
}

function fragmentAt(stream: string, start: number, end: number): string {
  const written = stream.slice(start, end);
  return decodedString(written) ?? written;
}
