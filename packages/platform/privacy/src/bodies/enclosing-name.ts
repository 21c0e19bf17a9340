import { decodedString, isSpace } from './json-text.ts';

/** The beginning of an object is searched for this many characters before one of its members. */
const WITHIN = 65_536;

/** Finds the names of objects from their members: in `"properties": {"a": 1, "b": 2}` both are in `properties`. Reads backwards, so that text
 *  around the JSON does not matter. With ascending positions, all members of one object cost one pass. */
export class EnclosingNames {
  readonly #text: string;
  /** Nested members may cause repeated passes over the text before them. The total is limited to this. */
  #budget: number;
  #lastAt = -1;
  #lastName: string | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#budget = 4 * text.length;
  }

  /** The name of the member whose object contains the member at `at` (its quote). Undefined when there is none, or it is too far away. */
  around(at: number): string | undefined {
    this.#lastName = this.#find(at);
    this.#lastAt = at;
    return this.#lastName;
  }

  #find(from: number): string | undefined {
    const text = this.#text;
    const first = Math.max(0, from - Math.min(WITHIN, this.#budget));
    let depth = 0;
    let at = from - 1;
    for (; at >= first; at -= 1) {
      const code = text[at];
      if (code === '"') at = startOfString(text, at);
      if (depth === 0 && at === this.#lastAt) break;
      if (code === '}' || code === ']') depth += 1;
      if (code !== '{' && code !== '[') continue;
      if (depth === 0) break;
      depth -= 1;
    }
    this.#budget -= from - at;
    if (at < first) return undefined;
    if (at === this.#lastAt) return this.#lastName;
    return text[at] === '{' ? nameBefore(text, at) : undefined;
  }
}

/** The name of the member with its value at `value`. */
function nameBefore(text: string, value: number): string | undefined {
  const colon = lastBefore(text, value);
  const end = lastBefore(text, colon);
  return text[colon] === ':' && text[end] === '"' ? decodedString(text.slice(startOfString(text, end) + 1, end)) : undefined;
}

function lastBefore(text: string, at: number): number {
  let before = at - 1;
  while (before > 0 && isSpace(text.charCodeAt(before))) before -= 1;
  return before;
}

/** The quote that begins the string that ends with the one at `end`; before the text when there is none. */
function startOfString(text: string, end: number): number {
  for (let at = end - 1; at >= 0; at -= 1) {
    if (text[at] !== '"') continue;
    let slashes = 0;
    while (text[at - slashes - 1] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at;
    at -= slashes;
  }
  return -1;
}
