import { ASCII } from './character-codes.ts';

const { COLON, CR, LF, SPACE } = ASCII;

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
// An event without one of these changes no fact: keys, types, `event: error`, and letters written as escapes.
const FACT_WORDS: readonly (readonly [string, string])[] = [
  [USAGE, 'usag'],
  ['error', 'rror'],
  ['message_stop', 'e_st'],
  ['.completed"', 'mple'],
  ['.incomplete"', 'mple'],
  ['.failed"', 'iled'],
  ['[DONE]', 'DONE'],
  ['\\u00', '\\u00'],
];
const factFinder = new WordFinder(FACT_WORDS);
const factOrModelFinder = new WordFinder([...FACT_WORDS, ['"model"', 'mode']]);

/** Skips whole events that cannot change the facts: from `start`, between two events, to the end of the last event before one of the words.
 *  Most events of a stream are such; this costs a tenth of parsing them, and may only err by skipping too little (a property test of
 *  `body-facts-reader.test.ts`). */
export function skipIrrelevantEvents(chunk: Uint8Array, start: number, needsModel: boolean): number {
  const finder = needsModel ? factOrModelFinder : factFinder;
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
