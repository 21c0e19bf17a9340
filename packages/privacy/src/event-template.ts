import { endOfWord, type EventLeaves } from './event-leaves.ts';
import { endOfString } from './json-text.ts';
import { isLineEnd, type LineEnds } from './line-ends.ts';
import type { StreamText } from './stream-text.ts';

/** Events with more changing values are parsed each time. */
export const MAX_SLOTS = 8;
const UNCHANGED: readonly boolean[] = [];
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Most fragments are shorter than this: a loop over them is faster than `indexOf`. */
const WALKED = 16;
/** Positions of the slots of the current event, and which of their strings have no escapes: one event is compared at a time. */
const starts = new Int32Array(MAX_SLOTS);
const ends = new Int32Array(MAX_SLOTS);
const arePlain = new Uint8Array(MAX_SLOTS);

/** The position of a changing value. */
interface Slot {
  readonly start: number;
  readonly end: number;
  readonly isString: boolean;
  /** The text that it is a fragment of; undefined when it belongs to no text. */
  readonly text: StreamText | undefined;
}

/** An event that was read, and where it is written. */
export interface ReadEvent {
  readonly start: number;
  readonly end: number;
  readonly leaves: EventLeaves;
  /** For each of its text leaves the text that it is a fragment of. */
  readonly texts: readonly StreamText[];
}

/** How events are written but for a few values. Events of a stream differ in little but their fragment, and comparing what is around it takes
 *  a tenth of the time of reading. What distinguishes texts is compared, so no fragment is taken for one of another text. */
export class EventTemplate {
  readonly #slots: readonly Slot[];
  /** The text before, between and after the slots. */
  readonly #between: readonly string[];
  /** The event that it was made of. */
  readonly event: ReadEvent;
  /** Which of its scalars have slots. */
  readonly changing: readonly boolean[];

  constructor(stream: string, event: ReadEvent, slots: readonly Slot[], changing: readonly boolean[]) {
    this.#slots = slots;
    this.event = event;
    this.changing = changing;
    const last = stream.slice(slots.at(-1)?.end ?? event.start, event.end);
    this.#between = [...slots.map((slot, at) => stream.slice(slots[at - 1]?.end ?? event.start, slot.start)), last];
  }

  /** The end of the event that begins at `start` when it is written so; its fragments are added to their texts then. Else -1. */
  matchAt(stream: string, start: number, lines: LineEnds): number {
    const between = this.#between;
    const slots = this.#slots;
    let at = start;
    for (let i = 0; i < slots.length; i += 1) {
      const before = between[i]!;
      const from = at + before.length;
      // `startsWith` takes twice as long.
      if (stream.slice(at, from) !== before) return -1;
      at = slots[i]!.isString ? endOfPlain(stream, from) : endOfWord(stream, from, stream.length);
      arePlain[i] = at < 0 ? 0 : 1;
      if (at < 0) at = endOfString(stream, from, lines.endFrom(from));
      starts[i] = from;
      ends[i] = at;
    }
    const last = between[slots.length]!;
    const end = at + last.length;
    if (stream.slice(at, end) !== last || !isLineEnd(stream, end)) return -1;
    for (let i = 0; i < slots.length; i += 1) slots[i]!.text?.add(stream, starts[i]!, ends[i]!, arePlain[i] === 1);
    return end;
  }
}

/** The template of an event. Scalars that were others in the event of `earlier`, a template of such events, have slots: sequence
 *  numbers, random padding. Undefined when there are too many. */
export function templateOf(stream: string, event: ReadEvent, earlier: EventTemplate | undefined): EventTemplate | undefined {
  const { texts, leaves } = event;
  const slots: Slot[] = [];
  for (let i = 0; i < texts.length; i += 1) {
    const { start, end } = leaves.texts[i]!;
    slots.push({ start, end, isString: true, text: texts[i] });
  }
  const changing = earlier === undefined ? UNCHANGED : changesBetween(stream, earlier, leaves.scalars);
  for (let i = 0; i < changing.length; i += 1) {
    if (!changing[i]!) continue;
    const start = leaves.scalars[2 * i]!;
    slots.push({ start, end: leaves.scalars[2 * i + 1]!, isString: stream.charCodeAt(start - 1) === QUOTE, text: undefined });
  }
  if (slots.length > MAX_SLOTS) return undefined;
  if (slots.length > 1) slots.sort((a, b) => a.start - b.start);
  return new EventTemplate(stream, event, slots, changing);
}

function changesBetween(stream: string, { event, changing }: EventTemplate, scalars: readonly number[]): boolean[] {
  const before = event.leaves.scalars;
  if (before.length !== scalars.length) return [];
  const changes: boolean[] = [];
  for (let at = 0; at < scalars.length; at += 2) {
    const isOther = stream.slice(scalars[at], scalars[at + 1]) !== stream.slice(before[at], before[at + 1]);
    changes.push(changing[at / 2] === true || isOther);
  }
  return changes;
}

/** The end of a short string without escapes; -1 for any other. */
function endOfPlain(stream: string, from: number): number {
  for (let at = from; at < from + WALKED; at += 1) {
    const code = stream.charCodeAt(at);
    if (code === QUOTE) return at;
    // The end of a string that a broken line leaves open is not looked for in the next line.
    if (code === BACKSLASH || !(code >= 0x20)) return -1;
  }
  return -1;
}
