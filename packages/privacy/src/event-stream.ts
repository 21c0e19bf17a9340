import { isDelta, keyOf, readEvent, type EventLeaves, type TextLeaf } from './event-leaves.ts';
import { MAX_SLOTS, templateOf, type EventTemplate } from './event-template.ts';
import { isSpace } from './json-text.ts';
import { LineEnds, nextLine } from './line-ends.ts';
import { StreamText } from './stream-text.ts';

/** How a body is divided into events: server-sent events, or JSON values in lines (NDJSON, JSON text sequences). */
export type Framing = 'sse' | 'lines';

/** An event with its JSON in several `data` lines. */
export interface SplitEvent {
  readonly data: string;
  /** Its lines: their start, the span of their data, and the position of that in `data`. */
  readonly parts: readonly { readonly lineStart: number; readonly start: number; readonly end: number; readonly at: number }[];
}

/** The texts and split events of a stream. */
export interface EventStream {
  /** In the order in which they begin. */
  readonly texts: Iterable<StreamText>;
  readonly splitEvents: readonly SplitEvent[];
}

/** So many alternating texts (choices, tool calls) are read without parsing each of their events. */
const MAX_TEMPLATES = 4;
const DATA = 'data:';
const LF = 0x0a;
const SMALL_D = 0x64;

export function readEventStream(text: string, framing: Framing): EventStream {
  return new EventStreamReader(text, framing).read();
}

class EventStreamReader {
  readonly #text: string;
  readonly #framing: Framing;
  readonly #lines: LineEnds;
  readonly #texts = new Map<string, StreamText>();
  readonly #splitEvents: SplitEvent[] = [];
  /** The most recently matched one is first. */
  readonly #templates: EventTemplate[] = [];
  /** Up to here lines are known not to make an event together. */
  #separateUpTo = 0;

  constructor(text: string, framing: Framing) {
    this.#text = text;
    this.#framing = framing;
    this.#lines = new LineEnds(text, framing === 'sse');
  }

  read(): EventStream {
    const text = this.#text;
    const isSse = this.#framing === 'sse';
    for (let start = afterByteOrderMark(text); start < text.length;) {
      const first = text.charCodeAt(start);
      const isOther = first === LF || (isSse && first !== SMALL_D);
      const matched = isOther ? -1 : this.#endOfMatch(start);
      const end = first === LF ? start : matched < 0 ? this.#lines.endFrom(start) : matched;
      if (isOther || matched >= 0) start = nextLine(text, end);
      else start = isSse ? this.#readField(start, end) : this.#readLine(start, end);
    }
    return { texts: this.#texts.values(), splitEvents: this.#splitEvents };
  }

  /** The end of an event that is written like an earlier one; -1 for any other. */
  #endOfMatch(start: number): number {
    const templates = this.#templates;
    for (let i = 0; i < templates.length; i += 1) {
      const template = templates[i]!;
      const end = template.matchAt(this.#text, start, this.#lines);
      if (end < 0) continue;
      templates[i] = templates[0]!;
      templates[0] = template;
      return end;
    }
    return -1;
  }

  /** Reads a line of an event, or the lines of one: where the next begins. */
  #readField(start: number, end: number): number {
    const next = nextLine(this.#text, end);
    const from = dataOf(this.#text, start, end);
    if (from === undefined) return next;
    const leaves = readEvent(this.#text, from, end);
    if (leaves.end < 0 && start >= this.#separateUpTo) {
      const after = this.#readSplitEvent({ lineStart: start, start: from, end, at: 0 }, next);
      if (after !== undefined) return after;
    }
    this.#addLeaves(start, end, leaves);
    return next;
  }

  /** Reads a JSON value with its line. */
  #readLine(start: number, end: number): number {
    const text = this.#text;
    const next = nextLine(text, end);
    let from = start;
    // JSON text sequences have a record separator before each value.
    while (from < end && (isSpace(text.charCodeAt(from)) || text.charCodeAt(from) === 0x1e)) from += 1;
    if (from === end || !'{["'.includes(text[from]!)) return next;
    const leaves = readEvent(text, from, end);
    // A string is a value only when the line has nothing else; in JSON over several lines it may be a name.
    if (text[from] === '"' && text.slice(leaves.end, end).trim() !== '') return next;
    this.#addLeaves(start, end, leaves);
    return next;
  }

  /** The event of several data lines that begins with this one, when together they are JSON: where the line after it begins. */
  #readSplitEvent(first: SplitEvent['parts'][number], next: number): number | undefined {
    const text = this.#text;
    const ends = this.#lines.fork();
    const parts = [first];
    let length = first.end - first.start;
    let start = next;
    for (let lineEnd = first.end; start < text.length; start = nextLine(text, lineEnd)) {
      lineEnd = ends.endFrom(start);
      if (lineEnd === start) break;
      const data = dataOf(text, start, lineEnd);
      if (data === undefined) continue;
      parts.push({ lineStart: start, start: data, end: lineEnd, at: length + 1 });
      length += 1 + lineEnd - data;
    }
    this.#separateUpTo = start;
    if (parts.length === 1) return undefined;
    const data = parts.map((part) => text.slice(part.start, part.end)).join('\n');
    if (!isJson(data)) return undefined;
    const event = { data, parts };
    this.#splitEvents.push(event);
    for (const leaf of readEvent(data, 0, data.length).texts) {
      // No string goes over several lines.
      const at = placeInBody(event, leaf.start - 1) + 1;
      this.#textOf(leaf).add(text, at, at + leaf.end - leaf.start);
    }
    return start;
  }

  #addLeaves(start: number, end: number, leaves: EventLeaves): void {
    const texts: StreamText[] = [];
    for (const leaf of leaves.texts) {
      const text = this.#textOf(leaf);
      text.add(this.#text, leaf.start, leaf.end);
      texts.push(text);
    }
    const [first] = texts;
    if (first === undefined || leaves.end < 0 || texts.length > MAX_SLOTS) return;
    const templates = this.#templates;
    let same = 0;
    while (same < templates.length && templates[same]!.event.texts[0] !== first) same += 1;
    const template = templateOf(this.#text, { start, end, leaves, texts }, templates[same]);
    if (template === undefined) return;
    // The one in the place of the new one moves to the place of the one that it replaces, or of the oldest.
    const last = Math.min(same, MAX_TEMPLATES - 1);
    if (last > 0) templates[last] = templates[0]!;
    templates[0] = template;
  }

  #textOf(leaf: TextLeaf): StreamText {
    const key = keyOf(leaf);
    let text = this.#texts.get(key);
    if (text === undefined) this.#texts.set(key, (text = new StreamText(isDelta(leaf))));
    return text;
  }
}

/** In text that was read as UTF-8 or as latin-1. */
function afterByteOrderMark(text: string): number {
  if (text.charCodeAt(0) === 0xfeff) return 1;
  return text.startsWith('\u00ef\u00bb\u00bf') ? 3 : 0;
}

/** Where the data of a line begins; undefined when it is another field. */
function dataOf(text: string, start: number, end: number): number | undefined {
  if (!text.startsWith(DATA, start)) return undefined;
  const from = start + DATA.length;
  return from < end && text.charCodeAt(from) === 0x20 ? from + 1 : from;
}

/** The position in the body of a character of a split event. */
export function placeInBody({ parts }: SplitEvent, at: number): number {
  let low = 0;
  for (let high = parts.length; high - low > 1;) {
    const middle = (low + high) >> 1;
    if ((parts[middle]?.at ?? 0) <= at) low = middle;
    else high = middle;
  }
  const part = parts[low];
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
