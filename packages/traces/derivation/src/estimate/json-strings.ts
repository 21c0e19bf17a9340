import { ASCII } from '../character-codes.ts';
import type { JsonKeys } from './json-keys.ts';
import { TextTokens } from './text-tokens.ts';

const { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE } = ASCII;

/** How a string is read: passed over; counted as a text of its own, or as the continuation of the text before; or held, until `held` decides. */
export const SKIP = 0;
export const COUNT = 1;
export const JOIN = 2;
export const HOLD = 3;
export type StringUse = typeof SKIP | typeof COUNT | typeof JOIN | typeof HOLD;

/** Decides which strings of JSON count. */
export interface StringRules {
  readonly keys: JsonKeys;
  /** Whether the next key, number or word counts. */
  countsSyntax(place: JsonStrings): boolean;
  useOf(place: JsonStrings): StringUse;
  /** Whether a held string is text. `head` is how JSON has it, up to `HELD_BYTES`. */
  held?(place: JsonStrings, head: Buffer): boolean;
  /** The end of a string that was passed over. */
  passed?(place: JsonStrings, bytes: number): void;
  /** The beginning of an object. */
  opened?(place: JsonStrings): void;
}

/** Enough to find the size of most images. */
const HELD_BYTES = 4_096;
/** Values deeper than this have no place. */
const MAX_DEPTH = 64;
/** The quotes of a string, or what separates numbers. */
const SEPARATOR_TOKENS = 1;

// The state of the parser.
const BETWEEN = 0;
const IN_KEY = 1;
const IN_TEXT = 2;
const IN_SKIPPED = 3;
const IN_HELD = 4;
const IN_LITERAL = 5;

/** Counts the text of JSON that arrives in chunks, where `rules` says so. Constant memory, independent of the segmentation; never throws, and counts
 *  broken JSON as far as it resembles JSON. */
export class JsonStrings {
  readonly text = new TextTokens();
  readonly #rules: StringRules;
  /** For each depth, the key of the container and whether it is an object. */
  readonly #parents = new Uint8Array(MAX_DEPTH + 1);
  readonly #objects = new Uint8Array(MAX_DEPTH + 1);
  #depth = 0;
  #key = 0;
  #expectsKey = false;
  #state = BETWEEN;
  #isEscaped = false;
  #countsKey = false;
  /** The part of a key from earlier chunks, or the beginning of a string that is held. */
  #head: Buffer | undefined;
  #headBytes = 0;
  #passedBytes = 0;

  constructor(rules: StringRules) {
    this.#rules = rules;
  }

  get depth(): number {
    return this.#depth;
  }

  /** The key of the current value, in an array that of the array; 0 for one not in `keys`. */
  get key(): number {
    return this.#key;
  }

  /** The key of the object or array with the current value (1), of the one around it (2), and so on; 0 for none or one not in `keys`. */
  parent(levels: number): number {
    const depth = this.#depth - levels + 1;
    return depth > 0 && depth <= MAX_DEPTH ? this.#parents[depth]! : 0;
  }

  isInside(key: number): boolean {
    const depth = Math.min(this.#depth, MAX_DEPTH);
    for (let at = 1; at <= depth; at++) if (this.#parents[at] === key) return true;
    return false;
  }

  /** Other JSON begins, whose text may continue that of the JSON before. */
  reset(): void {
    this.#depth = 0;
    this.#key = 0;
    this.#expectsKey = false;
    this.#state = BETWEEN;
    this.#isEscaped = false;
  }

  push(chunk: Uint8Array, start = 0, end = chunk.length): void {
    let at = start;
    while (at < end) at = this.#step(chunk, at, end);
  }

  #step(chunk: Uint8Array, at: number, end: number): number {
    switch (this.#state) {
      case IN_KEY:
        return this.#walkKey(chunk, at, end);
      case IN_TEXT:
        return this.#endString(this.text.countString(chunk, at, end), end);
      case IN_SKIPPED:
        return this.#walkSkipped(chunk, at, end);
      case IN_HELD:
        return this.#walkHeld(chunk, at, end);
      case IN_LITERAL:
        return this.#walkLiteral(chunk, at, end);
      default:
        return this.#walkBetween(chunk, at, end);
    }
  }

  #walkBetween(chunk: Uint8Array, start: number, end: number): number {
    for (let at = start; at < end; at++) {
      const byte = chunk[at]!;
      if (byte <= SPACE) continue;
      if (byte === QUOTE) {
        if (this.#expectsKey) this.#startKey();
        else this.#startValue();
        return at + 1;
      }
      if (byte === COLON) this.#expectsKey = false;
      else if (byte === COMMA) this.#expectsKey = this.#isInObject();
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(byte === OPEN_BRACE);
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#close();
      else if (this.#rules.countsSyntax(this)) {
        this.#startPiece(IN_LITERAL);
        return at;
      }
    }
    return end;
  }

  #isInObject(): boolean {
    return this.#depth <= MAX_DEPTH && this.#objects[this.#depth] === 1;
  }

  #open(isObject: boolean): void {
    this.#depth++;
    if (this.#depth <= MAX_DEPTH) {
      this.#parents[this.#depth] = this.#key;
      this.#objects[this.#depth] = isObject ? 1 : 0;
      if (isObject) this.#rules.opened?.(this);
    } else this.#key = 0;
    this.#expectsKey = this.#isInObject();
  }

  #close(): void {
    // The next element of an array has the array's key again.
    if (this.#depth > 0) this.#depth--;
    this.#key = this.parent(1);
    this.#expectsKey = false;
  }

  #startKey(): void {
    this.#headBytes = 0;
    this.#countsKey = this.#rules.countsSyntax(this);
    if (this.#countsKey) this.#startPiece(IN_KEY);
    else this.#state = IN_KEY;
  }

  #startValue(): void {
    const use = this.#rules.useOf(this);
    this.#headBytes = 0;
    this.#passedBytes = 0;
    if (use === COUNT) this.#startPiece(IN_TEXT);
    else if (use === JOIN) this.#state = IN_TEXT;
    else this.#state = use === HOLD ? IN_HELD : IN_SKIPPED;
  }

  #startPiece(state: number): void {
    this.#state = state;
    this.text.startPiece();
    this.text.add(SEPARATOR_TOKENS);
  }

  /** `after` is the index after the closing quote, or beyond `end`. */
  #endString(after: number, end: number): number {
    if (after > end) return end;
    this.#state = BETWEEN;
    return after;
  }

  #walkKey(chunk: Uint8Array, start: number, end: number): number {
    const after = this.#countsKey ? this.text.countString(chunk, start, end) : this.#afterString(chunk, start, end);
    const { keys } = this.#rules;
    // A longer key is not one of them.
    const room = keys.maxBytes + 1 - this.#headBytes;
    if (after > end || this.#headBytes > 0) this.#hold(chunk, start, Math.min(after - 1, end, start + room));
    if (after <= end) {
      this.#key = this.#headBytes > 0 ? keys.find(this.#head!, 0, this.#headBytes) : keys.find(chunk, start, after - 1);
    }
    return this.#endString(after, end);
  }

  #walkSkipped(chunk: Uint8Array, start: number, end: number): number {
    const after = this.#afterString(chunk, start, end);
    this.#passedBytes += Math.min(after, end) - start;
    if (after <= end) this.#rules.passed?.(this, this.#passedBytes - 1);
    return this.#endString(after, end);
  }

  #walkHeld(chunk: Uint8Array, start: number, last: number): number {
    const end = Math.min(last, start + HELD_BYTES - this.#headBytes);
    const after = this.#afterString(chunk, start, end);
    const isClosed = after <= end;
    this.#hold(chunk, start, isClosed ? after - 1 : end);
    if (!isClosed && this.#headBytes < HELD_BYTES) return end;
    const head = this.#head!.subarray(0, this.#headBytes);
    if (this.#rules.held?.(this, head)) {
      this.#startPiece(IN_TEXT);
      this.#isEscaped = false;
      this.text.countString(head, 0, head.length);
    } else {
      this.#state = IN_SKIPPED;
      this.#passedBytes = head.length;
      if (isClosed) this.#rules.passed?.(this, head.length);
    }
    return isClosed ? this.#endString(after, end) : end;
  }

  #walkLiteral(chunk: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end && !endsLiteral(chunk[at]!)) at++;
    this.text.countString(chunk, start, at);
    if (at < end) this.#state = BETWEEN;
    return at;
  }

  #hold(chunk: Uint8Array, from: number, to: number): void {
    this.#head ??= Buffer.allocUnsafe(HELD_BYTES);
    this.#head.set(chunk.subarray(from, to), this.#headBytes);
    this.#headBytes += to - from;
  }

  /** The index after the closing quote of the string that contains `start`, or `last` + 1. */
  #afterString(chunk: Uint8Array, start: number, last: number): number {
    const end = last | 0;
    let at = (start + (this.#isEscaped ? 1 : 0)) | 0;
    this.#isEscaped = false;
    for (; at < end; at++) {
      const byte = chunk[at]!;
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
    }
    this.#isEscaped = at > end;
    return end + 1;
  }
}

function endsLiteral(byte: number): boolean {
  return byte <= SPACE || byte === QUOTE || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === COLON;
}
