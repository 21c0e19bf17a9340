export interface Prefixes {
  readonly words: readonly string[];
  readonly before: readonly string[];
}

/** What a prefilter has to match: texts that hold one of these, whatever the case of letters. */
export interface PrefilterPatterns {
  /** Of three ASCII characters at least. */
  readonly words: readonly string[];
  /** Words that count only in front of one of some texts. */
  readonly prefixes?: readonly Prefixes[];
  /** Single ASCII characters that count anywhere. */
  readonly characters?: string;
  /** Numbers as people write them: two digits, one of `-. `, and four digits; or a plus and a digit that are not in the middle of
   *  something else. */
  readonly numbers?: boolean;
  /** Characters of ASCII as percent-encoding writes them. */
  readonly percentEscapes?: boolean;
}

/** A possible match at a pair: a word in lower case, or the digits around a separator or after a plus; and how far before the pair's
 *  second character the word, the separator or the plus is. A word with `before` counts only in front of one of those. */
interface Candidate {
  readonly folded: Uint8Array;
  readonly back: number;
  readonly before: Followers;
}

/** Words of which one has to follow, if there are any. `isFirst`: whether one begins with a character. */
interface Followers {
  readonly words: readonly Uint8Array[];
  readonly isFirst: Uint8Array;
}

const ANYTHING = followersOf([]);
const SEPARATED = new Uint8Array(0);
const AFTER_PLUS = new Uint8Array(0);
const AFTER_PERCENT = new Uint8Array(0);
/** The bit positions of a pair's characters in the number that this machine reads from two bytes. */
const FIRST = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 8;
const SECOND = 8 - FIRST;
/** Letters from the most to the least frequent in texts. */
const LETTERS = 'etaoinshrdlucmfwypvbgkjqxz';
const DIGITS = '0123456789';
const SEPARATORS = '-. ';
const PLUS = 0x2b;
const PERCENT = 0x25;
/** Sets the case of letters aside. It also takes some other characters for each other, which only catches more. */
const FOLD = 0x20;

/** Separates texts that may hold something from those that cannot, in one pass that looks at every second pair of characters only (as
 *  Wu and Manber do): every word has three rare characters by which it is found, and one of their two pairs is looked at. It may
 *  err by catching too much. A character costs about 1 ns; in a regular expression of the credentials alone 1.7 ns. */
export class TextPrefilter {
  readonly #listOfPair = new Uint16Array(65_536);
  readonly #lists: Candidate[][] = [[]];

  constructor({ words, prefixes = [], characters = '', numbers = false, percentEscapes = false }: PrefilterPatterns) {
    for (const word of words) this.#addWord(word);
    for (const { words, before } of prefixes) for (const word of words) this.#addWord(word, followersOf(before));
    for (const character of characters) this.#addCharacter(character);
    if (numbers) this.#addNumbers();
    if (percentEscapes) this.#addAround(PERCENT, AFTER_PERCENT);
  }

  /** Whether `text` between the two indexes may hold something; what reaches beyond them may be missed. */
  mayMatch(text: string, from = 0, to: number = text.length): boolean {
    const listOfPair = this.#listOfPair;
    // `| 0` lets the compiler know that these are small integers.
    const end = to | 0;
    for (let at = (from | 0) + 1; at < end; at += 2) {
      const list = listOfPair[((text.charCodeAt(at - 1) & 0xff) << FIRST) | ((text.charCodeAt(at) & 0xff) << SECOND)]!;
      if (list !== 0 && isThere(this.#lists[list]!, text, at)) return true;
    }
    return false;
  }

  /** The same of a text's bytes, in latin-1 or UTF-8, at half the cost: they are read in twos. */
  mayMatchBytes(bytes: Uint8Array): boolean {
    if (bytes.length < 2) return false;
    const odd = bytes.byteOffset & 1;
    const pairs = new Uint16Array(bytes.buffer, bytes.byteOffset + odd, (bytes.length - odd) >> 1);
    const listOfPair = this.#listOfPair;
    if (odd === 1) {
      const list = listOfPair[(bytes[0]! << FIRST) | (bytes[1]! << SECOND)]!;
      if (list !== 0 && isThere(this.#lists[list]!, bytes, 1)) return true;
    }
    const end = pairs.length | 0;
    for (let pair = 0; pair < end; pair += 1) {
      const list = listOfPair[pairs[pair]!]!;
      if (list !== 0 && isThere(this.#lists[list]!, bytes, 2 * pair + odd + 1)) return true;
    }
    return false;
  }

  #addWord(word: string, before: Followers = ANYTHING): void {
    const anchor = rarestAt(word);
    for (const first of [anchor, anchor + 1])
      for (const one of casesOf(word[first]))
        for (const two of casesOf(word[first + 1])) this.#add(one + two, { folded: folded(word), back: first + 1, before });
  }

  #addCharacter(character: string): void {
    for (let code = 0; code < 256; code += 1) {
      this.#add(character + String.fromCharCode(code), { folded: folded(character), back: 1, before: ANYTHING });
      this.#add(String.fromCharCode(code) + character, { folded: folded(character), back: 0, before: ANYTHING });
    }
  }

  #addNumbers(): void {
    for (const digit of DIGITS) {
      for (const separator of SEPARATORS) {
        this.#add(digit + separator, { folded: SEPARATED, back: 0, before: ANYTHING });
        this.#add(separator + digit, { folded: SEPARATED, back: 1, before: ANYTHING });
      }
    }
    this.#addAround(PLUS, AFTER_PLUS);
  }

  /** Every pair with a sign. */
  #addAround(sign: number, folded: Uint8Array): void {
    for (let code = 0; code < 256; code += 1) {
      this.#add(String.fromCharCode(sign, code), { folded, back: 1, before: ANYTHING });
      this.#add(String.fromCharCode(code, sign), { folded, back: 0, before: ANYTHING });
    }
  }

  #add(pair: string, candidate: Candidate): void {
    const key = (pair.charCodeAt(0) << FIRST) | (pair.charCodeAt(1) << SECOND);
    if (this.#listOfPair[key] === 0) this.#listOfPair[key] = this.#lists.push([]) - 1;
    this.#lists[this.#listOfPair[key]!]!.push(candidate);
  }
}

function isThere(candidates: readonly Candidate[], text: string | Uint8Array, at: number): boolean {
  for (let i = 0; i < candidates.length; i += 1) {
    const { folded, back, before } = candidates[i]!;
    if (folded.length === 0) {
      if (isSign(folded, text, at - back)) return true;
    } else if (isWord(folded, text, at - back)) {
      if (before.words.length === 0 || isBefore(before, text, at - back + folded.length)) return true;
    }
  }
  return false;
}

function isBefore({ words, isFirst }: Followers, text: string | Uint8Array, at: number): boolean {
  if (isFirst[codeAt(text, at) | FOLD] !== 1) return false;
  for (let i = 0; i < words.length; i += 1) if (isWord(words[i]!, text, at)) return true;
  return false;
}

function isSign(sign: Uint8Array, text: string | Uint8Array, at: number): boolean {
  if (sign === SEPARATED) return isSeparated(text, at);
  return sign === AFTER_PLUS ? isPlus(text, at) : isPercentEscape(text, at);
}

function codeAt(text: string | Uint8Array, at: number): number {
  return typeof text === 'string' ? text.charCodeAt(at) : (text[at] ?? Number.NaN);
}

function isWord(folded: Uint8Array, text: string | Uint8Array, start: number): boolean {
  for (let i = 0; i < folded.length; i += 1) if ((codeAt(text, start + i) | FOLD) !== folded[i]) return false;
  return true;
}

function isSeparated(text: string | Uint8Array, separator: number): boolean {
  for (let at = separator - 2; at <= separator + 4; at += 1) {
    if (at !== separator && !isDigit(codeAt(text, at))) return false;
  }
  return true;
}

/** Base64 is full of pluses; none of them begins a number. */
function isPlus(text: string | Uint8Array, plus: number): boolean {
  if (codeAt(text, plus) !== PLUS || !isDigit(codeAt(text, plus + 1))) return false;
  return plus === 0 || !/[\w+/=]/.test(String.fromCharCode(codeAt(text, plus - 1)));
}

/** Only escapes of ASCII characters: the patterns have no others. */
function isPercentEscape(text: string | Uint8Array, percent: number): boolean {
  const high = codeAt(text, percent + 1);
  return codeAt(text, percent) === PERCENT && high >= 0x30 && high <= 0x37 && isHexDigit(codeAt(text, percent + 2));
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || ((code | FOLD) >= 0x61 && (code | FOLD) <= 0x66);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function followersOf(texts: readonly string[]): Followers {
  const words = texts.map(folded);
  const isFirst = new Uint8Array(256);
  for (const word of words) isFirst[word[0]!] = 1;
  return { words, isFirst };
}

function folded(word: string): Uint8Array {
  return Uint8Array.from(word, (character) => character.charCodeAt(0) | FOLD);
}

/** The index of the three characters of a word that are rarest in texts. */
function rarestAt(word: string): number {
  const rates = Array.from({ length: word.length - 2 }, (_, at) => rateOf(word, at) + rateOf(word, at + 1));
  return rates.indexOf(Math.min(...rates));
}

/** How frequent a pair of characters is: a guess. A space is as frequent as the first of the letters, a digit as a rare one. */
function rateOf(word: string, at: number): number {
  return rateOfCharacter(word[at]) * rateOfCharacter(word[at + 1]);
}

function rateOfCharacter(character = ''): number {
  if (DIGITS.includes(character)) return 10;
  const at = character === ' ' ? 0 : LETTERS.indexOf(character.toLowerCase());
  return at < 0 ? 1 : LETTERS.length - at;
}

function casesOf(character = ''): string[] {
  return [...new Set([character.toLowerCase(), character.toUpperCase()])];
}
