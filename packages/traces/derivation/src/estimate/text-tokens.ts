import { ASCII } from '../character-codes.ts';
import { SCRIPT, SCRIPT_COUNT, scriptOf, scriptOfBytes } from './scripts.ts';
import type { Tokenizer } from './tokenizers.ts';

const { BACKSLASH, CR, LF, QUOTE, SPACE, TAB } = ASCII;
const LETTER_U = 0x75;

// Kinds of characters. The last three are not steps of the table.
const LOWER = 0;
const UPPER = 1;
const DIGIT = 2;
const BLANK = 3;
const NEWLINE = 4;
const TABULATOR = 5;
const PUNCTUATION = 6;
const OTHER = 7;
const SPECIAL = 8;
const CONTINUATION = 9;
const LEAD = 10;

// What the last characters were: states of the table. Each has eight kinds of characters, so they are multiples of eight.
const KINDS = 8;
const AFTER_NEWLINE = 0;
const AFTER_BLANK = 1;
const AFTER_BLANKS = 2;
const AFTER_TAB = 3;
const AFTER_PUNCTUATION = 4;
const AFTER_OTHER = 5;
const CAPITAL = 6;
const CAPITALS = 7;
/** One, two or three digits: tokenizers split longer numbers into groups of three. */
const DIGITS = 8;
/** One letter, and more up to `LONGEST`. */
const LETTERS = 11;
const LONGEST = 15;
const STATES = LETTERS + LONGEST;

/** An escape that the end of a chunk cut: nothing, a backslash, or `\u` with up to three of its digits. */
const NO_ESCAPE = 0;
const ESCAPE = 1;
const UNICODE_ESCAPE = 2;

const KIND_OF = Uint8Array.from({ length: 256 }, (_, byte) => kindOf(byte));
/** For a state and a kind of character: its cost in hundredths of a token, and in the low byte the next state. */
const STEPS = Uint16Array.from({ length: STATES * KINDS }, (_, at) => {
  const [next, cost] = stepOf(Math.floor(at / KINDS), at % KINDS);
  return (cost << 8) | (next * KINDS);
});

/** Counts the tokens of text by a bound on what byte-pair tokenizers make of it, without their vocabularies.
 *
 *  They split text as `STEPS` does, into words, groups of digits, punctuation and white space, and join a leading blank to its word. A common word is
 *  one token, a longer or rarer one is several. The costs were fitted to `o200k_base` and `cl100k_base`: of 2,000 characters of prose in 40 languages,
 *  code, JSON or noise, nine of ten cost 1.1 to 1.8 times their tokens, and fewer than one of a thousand less than them. Rarer languages may cost a
 *  third less. Other scripts cost by the character (`scripts.ts`).
 *  Constant memory, independent of the segmentation. */
export class TextTokens {
  #hundredths = 0;
  readonly #characters = new Float64Array(SCRIPT_COUNT);
  #state = AFTER_NEWLINE;
  #escape = NO_ESCAPE;
  #unit = 0;
  /** The first byte of a character of three or four, whose second is in the next chunk. */
  #lead = 0;

  tokens({ latin, scripts }: Tokenizer): number {
    return this.#characters.reduce((sum, count, script) => sum + count * scripts[script]!, (this.#hundredths / 100) * latin);
  }

  /** Text that is not joined to the text before. */
  startPiece(): void {
    this.#state = AFTER_NEWLINE;
    this.#escape = NO_ESCAPE;
    this.#lead = 0;
  }

  add(tokens: number): void {
    this.#hundredths += tokens * 100;
  }

  /** Counts the string of JSON that contains `start`, up to its closing quote. Returns the index after that, or `last` + 1 when it is still to come. */
  countString(chunk: Uint8Array, start: number, last: number): number {
    // `| 0` tells the compiler that these are small integers.
    const end = last | 0;
    let at = start | 0;
    if (this.#escape !== NO_ESCAPE) at = this.#unescape(chunk, at, end) | 0;
    else if (this.#lead !== 0 && at < end) this.#countCharacter(scriptOfBytes(this.#lead, chunk[at]!));
    let state = this.#state | 0;
    let cost = 0;
    for (; at < end; at++) {
      const byte = chunk[at]!;
      let kind = KIND_OF[byte]!;
      if (kind >= SPECIAL) {
        if (kind === CONTINUATION) continue;
        if (byte === QUOTE) break;
        if (byte === BACKSLASH) {
          this.#state = state;
          this.#escape = ESCAPE;
          at = this.#unescape(chunk, at + 1, end) - 1;
          state = this.#state;
          continue;
        }
        if (byte >= 0xe0 && at + 1 === end) {
          this.#lead = byte;
          continue;
        }
        const script = scriptOfBytes(byte, chunk[at + 1]!);
        this.#characters[script]!++;
        kind = script === SCRIPT.LATIN ? LOWER : OTHER;
      }
      const step = STEPS[state + kind]!;
      cost += step >> 8;
      state = step & 0xff;
    }
    this.#state = state;
    this.#hundredths += cost;
    return at + 1;
  }

  #countCharacter(script: number): void {
    this.#lead = 0;
    this.#characters[script]!++;
    this.#step(script === SCRIPT.LATIN ? LOWER : OTHER);
  }

  #step(kind: number): void {
    const step = STEPS[this.#state + kind]!;
    this.#hundredths += step >> 8;
    this.#state = step & 0xff;
  }

  /** Reads the rest of an escape as far as the chunk has it. */
  #unescape(chunk: Uint8Array, start: number, end: number): number {
    let at = start;
    for (; at < end && this.#escape !== NO_ESCAPE; at++) {
      const byte = chunk[at]!;
      if (this.#escape === ESCAPE) {
        this.#escape = byte === LETTER_U ? UNICODE_ESCAPE : NO_ESCAPE;
        this.#unit = 0;
        if (byte !== LETTER_U) this.#step(escapedKind(byte));
      } else {
        this.#unit = (this.#unit << 4) | ((byte & 0x0f) + (byte > 0x40 ? 9 : 0));
        if (++this.#escape < UNICODE_ESCAPE + 4) continue;
        this.#escape = NO_ESCAPE;
        this.#countUnit(this.#unit & 0xffff);
      }
    }
    return at;
  }

  /** A code unit of UTF-16. */
  #countUnit(unit: number): void {
    if (unit < SPACE && unit !== LF && unit !== CR && unit !== TAB) this.#countCharacter(SCRIPT.SYMBOL);
    else if (unit < 0x80) this.#step(unit === QUOTE || unit === BACKSLASH ? PUNCTUATION : KIND_OF[unit]!);
    // The high half of a surrogate pair stands for both.
    else if (unit < 0xd800 || unit > 0xdfff) this.#countCharacter(scriptOf(unit));
    else if (unit < 0xdc00) this.#countCharacter(scriptOf(0x10000 + ((unit - 0xd800) << 10)));
  }
}

function kindOf(byte: number): number {
  if (byte === QUOTE || byte === BACKSLASH) return SPECIAL;
  if (byte >= 0x80) return byte < 0xc0 ? CONTINUATION : LEAD;
  if (byte >= 0x61 && byte <= 0x7a) return LOWER;
  if (byte >= 0x41 && byte <= 0x5a) return UPPER;
  if (byte >= 0x30 && byte <= 0x39) return DIGIT;
  if (byte === SPACE) return BLANK;
  if (byte === LF || byte === CR) return NEWLINE;
  return byte < SPACE ? TABULATOR : PUNCTUATION;
}

function escapedKind(byte: number): number {
  if (byte === 0x6e || byte === 0x72) return NEWLINE;
  return byte === 0x74 || byte === 0x62 || byte === 0x66 ? TABULATOR : PUNCTUATION;
}

/** The next state, and the cost in hundredths of a token. */
function stepOf(state: number, kind: number): readonly [next: number, cost: number] {
  switch (kind) {
    case LOWER:
      return lowerStep(state);
    case UPPER:
      if (state === CAPITAL || state === CAPITALS) return [CAPITALS, 65];
      return [CAPITAL, state >= LETTERS ? 120 : wordCost(state)];
    case DIGIT:
      return digitStep(state);
    case BLANK:
      if (state === AFTER_BLANKS) return [AFTER_BLANKS, 0];
      return state === AFTER_BLANK ? [AFTER_BLANKS, 80] : [AFTER_BLANK, 2];
    case NEWLINE:
      // Often joined to punctuation.
      if (state === AFTER_PUNCTUATION) return [AFTER_NEWLINE, 50];
      return [AFTER_NEWLINE, state === AFTER_NEWLINE ? 0 : 85];
    case TABULATOR:
      return [AFTER_TAB, state === AFTER_TAB ? 15 : 100];
    case PUNCTUATION:
      return [AFTER_PUNCTUATION, 55];
    default:
      return [AFTER_OTHER, 0];
  }
}

function lowerStep(state: number): readonly [next: number, cost: number] {
  if (state === CAPITAL || state === CAPITALS) return [LETTERS + 1, 12];
  if (state < LETTERS) return [LETTERS, wordCost(state)];
  const letters = state - LETTERS + 2;
  // Words of more letters are noise rather than language.
  if (letters > LONGEST) return [state, 65];
  return [state + 1, letters <= 4 ? 12 : 36];
}

function digitStep(state: number): readonly [next: number, cost: number] {
  const digits = state - DIGITS;
  if (digits === 0 || digits === 1) return [state + 1, 0];
  // What is before digits is never joined to them.
  if (state === AFTER_BLANK || state === AFTER_BLANKS) return [DIGITS, 205];
  if (state === AFTER_PUNCTUATION) return [DIGITS, 160];
  return [DIGITS, state >= LETTERS ? 135 : 115];
}

/** The first letter of a word: punctuation is often joined to it, digits never are. */
function wordCost(state: number): number {
  if (state === AFTER_PUNCTUATION) return 70;
  return state >= DIGITS && state < LETTERS ? 130 : 100;
}
