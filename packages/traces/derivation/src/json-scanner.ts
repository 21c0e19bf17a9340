import { ASCII } from './character-codes.ts';
import { keyIn, parsed, textOf, type KeyPaths, type PathNode } from './key-paths.ts';

const { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, CR, LF, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE, TAB } = ASCII;

/** The longest value that is kept, in bytes: a usage object has some 300, a model's name 30. */
const MAX_VALUE_BYTES = 65_536;
/** A shorter string is scanned byte by byte, because calling `indexOf` costs as much as scanning 25 bytes. */
const WALKED_BYTES = 16;
const NOTHING = new Uint8Array(0);
/** The value of a longer one. */
export const TOO_LONG = Symbol('too long');

// The state of the parser. From CLOSED on nothing more can be found.
const VALUE = 0;
const KEY_OR_END = 1;
const ELEMENT_OR_END = 2;
const KEY = 3;
const AFTER_KEY = 4;
const NESTED = 5;
const STRING = 6;
const LITERAL = 7;
const CLOSED = 8;
const GARBAGE = 9;

/** Picks the values at a few key paths out of JSON that arrives in chunks, without building it.
 *
 *  Keys count only at exactly their place (see `KeyPaths`), never inside strings or other values. At the end of each element of an array on a path
 *  `onElement` is called, which sees the element's values and its index; the next element replaces them. Memory is constant: a value over
 *  64 KiB is only `TOO_LONG`. Segmentation makes no difference. In broken JSON the values before the break are found. Never throws.
 *  Cost (2 KB chat completion): about 1.5 ns per byte. */
export class JsonScanner {
  readonly #paths: KeyPaths;
  /** The values found, by path. */
  readonly #texts = new Map<string, string>();
  readonly #onElement: (path: string, index: number) => void;
  #state = VALUE;
  /** The open objects and arrays on the way to wanted values, from the root. */
  readonly #open: PathNode[] = [];
  /** Elements so far in each of them. */
  readonly #elements: number[] = [];
  /** Open brackets inside a value that is skipped or kept. */
  #depth = 0;
  #isEscaped = false;
  /** The place of the next or current value, if it is on a path. */
  #place: PathNode | undefined;
  /** Start of the key or wanted value in the current chunk; -1 when none is being kept. */
  #keptFrom = -1;
  /** Its part in earlier chunks. */
  #held: Uint8Array = NOTHING;
  #heldLength = 0;

  /** The last value of a repeated key counts. */
  constructor(paths: KeyPaths, onElement: (path: string, index: number) => void = () => undefined) {
    this.#paths = paths;
    this.#onElement = onElement;
  }

  /** Whether the root value was closed; a root that is a bare number or word counts as garbage and never closes. */
  get closed(): boolean {
    return this.#state === CLOSED;
  }

  /** The value at `path`, undefined when it is absent, unfinished or broken, and `TOO_LONG` beyond 64 KiB. */
  value(path: string): unknown {
    const text = this.#texts.get(path);
    if (text === undefined) return undefined;
    return text === '' ? TOO_LONG : parsed(text);
  }

  reset(): void {
    this.#state = VALUE;
    this.#open.length = 0;
    this.#elements.length = 0;
    this.#depth = 0;
    this.#isEscaped = false;
    this.#place = undefined;
    this.#keptFrom = -1;
    this.#heldLength = 0;
    this.#texts.clear();
  }

  push(chunk: Uint8Array, start = 0, end = chunk.length): void {
    if (this.#keptFrom >= 0) this.#keptFrom = start;
    let at = start;
    while (at < end && this.#state < CLOSED) at = this.#step(chunk, at, end);
    if (this.#keptFrom >= 0) this.#hold(chunk, this.#keptFrom, end);
  }

  #step(chunk: Uint8Array, at: number, end: number): number {
    switch (this.#state) {
      case NESTED:
        return this.#walkNested(chunk, at, end);
      case STRING:
        return this.#walkString(chunk, at, end);
      case KEY:
        return this.#walkKey(chunk, at, end);
      case LITERAL:
        return this.#walkLiteral(chunk, at, end);
      default:
        return this.#between(chunk, at);
    }
  }

  /** One byte between tokens. */
  #between(chunk: Uint8Array, at: number): number {
    const byte = chunk[at]!;
    if (byte === SPACE || byte === LF || byte === CR || byte === TAB) return at + 1;
    if (this.#state === VALUE) return this.#startValue(byte, at);
    if (this.#state === AFTER_KEY) this.#state = byte === COLON ? VALUE : GARBAGE;
    else if (this.#state === ELEMENT_OR_END) return this.#startElement(byte, at);
    else if (byte === QUOTE) {
      this.#state = KEY;
      this.#keptFrom = at + 1;
      this.#heldLength = 0;
    } else if (byte === CLOSE_BRACE) this.#close();
    else if (byte !== COMMA) this.#state = GARBAGE;
    return at + 1;
  }

  #startElement(byte: number, at: number): number {
    if (byte === COMMA) return at + 1;
    if (byte !== CLOSE_BRACKET) {
      this.#place = this.#open.at(-1)?.each;
      return this.#startValue(byte, at);
    }
    this.#close();
    return at + 1;
  }

  #startValue(byte: number, at: number): number {
    const isRoot = this.#open.length === 0;
    // A byte order mark before the root.
    if (isRoot && (byte === 0xef || byte === 0xbb || byte === 0xbf)) return at + 1;
    const opens = byte === OPEN_BRACE || byte === OPEN_BRACKET || byte === QUOTE;
    const ends = byte === COMMA || byte === COLON || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
    if (ends || (isRoot && !opens)) {
      this.#state = GARBAGE;
      return at + 1;
    }
    const place = isRoot ? this.#paths.root : this.#place;
    if (place !== undefined && this.#enters(byte, place)) return at + 1;
    if (place?.isWanted === true) {
      this.#keptFrom = at;
      this.#heldLength = 0;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#depth = 1;
      this.#state = NESTED;
      return at + 1;
    }
    this.#state = byte === QUOTE ? STRING : LITERAL;
    return at + 1;
  }

  /** Whether the value that starts with `byte` has wanted values inside. */
  #enters(byte: number, place: PathNode): boolean {
    const isEntered = byte === OPEN_BRACE ? place.keys.size > 0 : byte === OPEN_BRACKET && place.each !== undefined;
    if (!isEntered) return false;
    this.#open.push(place);
    this.#elements.push(0);
    this.#state = byte === OPEN_BRACE ? KEY_OR_END : ELEMENT_OR_END;
    this.#place = undefined;
    return true;
  }

  /** At the end of the innermost open object or array. */
  #close(): void {
    this.#open.pop();
    this.#elements.pop();
    this.#afterValue();
  }

  /** After a value, which may be an element. */
  #afterValue(): void {
    const around = this.#open.at(-1);
    const each = around?.each;
    this.#place = undefined;
    this.#state = around === undefined ? CLOSED : each === undefined ? KEY_OR_END : ELEMENT_OR_END;
    if (each === undefined) return;
    const at = this.#elements.length - 1;
    this.#onElement(each.path, this.#elements[at]!++);
    this.#forget(each.path);
  }

  /** Removes the values below a path. */
  #forget(path: string): void {
    for (const found of this.#texts.keys()) if (found.startsWith(`${path}.`)) this.#texts.delete(found);
  }

  /** Inside an object or an array: only brackets outside strings matter. */
  #walkNested(chunk: Uint8Array, start: number, last: number): number {
    // `| 0` tells the compiler that these are small integers. Without it every iteration checks again, at twice the cost.
    const end = last | 0;
    let depth = this.#depth | 0;
    let at = start | 0;
    for (; at < end; at++) {
      const byte = chunk[at]!;
      if (byte === QUOTE) {
        // Most strings here are keys, and scanning them in place costs half of a call.
        const walked = Math.min(end, ++at + WALKED_BYTES) | 0;
        let inner = 0;
        for (; at < walked; at++) {
          inner = chunk[at]!;
          if (inner === QUOTE) break;
          if (inner === BACKSLASH) at++;
        }
        if (inner === QUOTE) continue;
        this.#state = STRING;
        break;
      }
      if (byte < OPEN_BRACKET) continue;
      // A bracket and its brace differ only in this bit.
      const folded = byte | 0x20;
      if (folded === OPEN_BRACE) depth++;
      else if (folded === CLOSE_BRACE && --depth === 0) {
        this.#depth = 0;
        this.#endValue(chunk, at + 1);
        return at + 1;
      }
    }
    this.#depth = depth;
    this.#isEscaped = at > end;
    return Math.min(at, end);
  }

  #walkString(chunk: Uint8Array, start: number, end: number): number {
    const from = this.#isEscaped ? start + 1 : start;
    const after = afterString(chunk, from, end);
    this.#isEscaped = after > end + 1;
    if (after > end) return end;
    if (this.#depth > 0) this.#state = NESTED;
    else this.#endValue(chunk, after);
    return after;
  }

  #walkLiteral(chunk: Uint8Array, start: number, end: number): number {
    for (let at = start; at < end; at++) {
      const byte = chunk[at]!;
      if (byte > COMMA && byte !== CLOSE_BRACE && byte !== CLOSE_BRACKET) continue;
      if (byte > SPACE && byte < COMMA && byte !== QUOTE) continue;
      this.#endValue(chunk, at);
      return at;
    }
    return end;
  }

  #walkKey(chunk: Uint8Array, start: number, end: number): number {
    const from = this.#isEscaped ? start + 1 : start;
    const after = afterString(chunk, from, end);
    this.#isEscaped = after > end + 1;
    if (after > end) return end;
    if (this.#heldLength === 0) this.#endKey(chunk, this.#keptFrom, after - 1);
    else {
      this.#hold(chunk, this.#keptFrom, after - 1);
      this.#endKey(this.#held, 0, this.#heldLength);
    }
    return after;
  }

  #endKey(bytes: Uint8Array, from: number, to: number): void {
    this.#state = AFTER_KEY;
    this.#keptFrom = -1;
    const key = to - from > this.#paths.maxKeyBytes ? undefined : keyIn(bytes, from, to);
    const place = key === undefined ? undefined : this.#open.at(-1)?.keys.get(key);
    this.#place = place;
    // The last of repeated keys wins, even without wanted values.
    if (place !== undefined && !place.isWanted) this.#forget(place.path);
  }

  #endValue(chunk: Uint8Array, end: number): void {
    const place = this.#place;
    if (place?.isWanted === true) {
      this.#texts.set(place.path, this.#textUpTo(chunk, end));
      this.#keptFrom = -1;
    }
    this.#afterValue();
  }

  /** Empty beyond the cap. */
  #textUpTo(chunk: Uint8Array, end: number): string {
    if (this.#heldLength > 0) {
      this.#hold(chunk, this.#keptFrom, end);
      return this.#heldLength > MAX_VALUE_BYTES ? '' : textOf(this.#held, 0, this.#heldLength);
    }
    return end - this.#keptFrom > MAX_VALUE_BYTES ? '' : textOf(chunk, this.#keptFrom, end);
  }

  /** Keeps a part of the value beyond the end of its chunk. Over the cap only its length grows. */
  #hold(chunk: Uint8Array, from: number, to: number): void {
    const length = this.#heldLength + to - from;
    if (length <= MAX_VALUE_BYTES) {
      if (length > this.#held.length) {
        const grown = new Uint8Array(Math.min(MAX_VALUE_BYTES, Math.max(256, length * 2)));
        grown.set(this.#held.subarray(0, this.#heldLength));
        this.#held = grown;
      }
      this.#held.set(chunk.subarray(from, to), this.#heldLength);
    }
    this.#heldLength = length;
  }
}

/** The index after the closing quote of the string that contains `at`. Without one before `end`: `end` + 1, or
 *  `end` + 2 when the last byte is a backslash whose escaped byte is still to come. */
function afterString(chunk: Uint8Array, start: number, last: number): number {
  const end = last | 0;
  // If the chunk continues after `end`, `indexOf` would repeatedly search bytes beyond this part.
  const walked = end === chunk.length ? Math.min(end, start + WALKED_BYTES) | 0 : end;
  let at = start | 0;
  for (; at < walked; at++) {
    const byte = chunk[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  while (at < end) {
    const quote = chunk.indexOf(QUOTE, at);
    const to = quote < 0 ? end : quote;
    let slashes = 0;
    while (to - slashes > at && chunk[to - slashes - 1] === BACKSLASH) slashes++;
    if (quote < 0) return end + 1 + (slashes & 1);
    if ((slashes & 1) === 0) return quote + 1;
    at = quote + 1;
  }
  return at + 1;
}
