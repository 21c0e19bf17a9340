import { decodedString, endOfString, isSpace } from '../bodies/json-text.ts';

/** A string of an event, between its quotes, that may be a fragment of a text continued in other events. */
export interface TextLeaf {
  readonly start: number;
  readonly end: number;
  /** Names of its enclosing members, without array positions. */
  readonly path: string;
  readonly container: Container;
}

interface EventLeaves {
  readonly texts: readonly TextLeaf[];
  /** False when the JSON is cut or broken. Then only the leaves before the break are included. */
  readonly isWhole: boolean;
}

/** An object of an event, or an element of an array, and the values that distinguish the texts below it. */
interface Container {
  readonly above: Container | undefined;
  /** Its array position; undefined for the value of a member. */
  readonly position: number | undefined;
  /** Values of members named in `IDENTITIES`. */
  readonly identity: Map<string, string>;
  /** The root's members of these names. */
  type?: string;
  object?: string;
  done?: string;
}

/** A more deeply nested string does not count as a fragment of a text. */
const MAX_DEPTH = 32;

/** Members that distinguish the texts of one stream: a choice, a tool call, a block, an item, a row. Excludes indexes that change from fragment to
 *  fragment (`start_char_index`), and `id`, which only the first fragment of a tool call has. */
const IDENTITIES = ['index', 'output_index', 'content_index', 'summary_index', 'annotation_index', 'item_id', 'custom_id'];
const IDENTITY_NAMES: ReadonlySet<string | undefined> = new Set(IDENTITIES);
/** Members with complete values: names, and values that providers choose from fixed lists or generate at random. */
const WHOLE_NAMES: ReadonlySet<string | undefined> = new Set(
  (
    'id name model role status finish_reason stop_reason service_tier system_fingerprint call_id created_at obfuscation type object ' +
    'done'
  ).split(' '),
);

/** Equal for all fragments of one text: its path, and the values that distinguish it from others there. */
export function keyOf({ path, container }: TextLeaf): string {
  return `${path} ${keyOfContainer(container)}`;
}

/** Whether an event declares such a leaf to be a fragment rather than a complete text. */
export function isDelta({ path, container }: TextLeaf): boolean {
  let root = container;
  while (root.above !== undefined) root = root.above;
  return path.includes('.delta') || root.done !== undefined || /delta|chunk|text_completion/.test(`${root.type} ${root.object}`);
}

/** Reads the JSON of one event, also when it is cut or broken. A custom parser, because `JSON.parse` returns no positions. */
export function readEvent(text: string, from: number, to: number): EventLeaves {
  const reader = new EventReader(text, from, to);
  const container = containerIn(undefined, undefined);
  const isWhole = reader.read(undefined, { path: '', container, depth: 0, position: undefined });
  return { texts: reader.texts, isWhole };
}

/** The location of a value. */
interface Place {
  readonly path: string;
  readonly container: Container;
  readonly depth: number;
  /** Its position in an array. */
  readonly position: number | undefined;
}

class EventReader {
  readonly texts: TextLeaf[] = [];
  readonly #text: string;
  readonly #to: number;
  #at: number;

  constructor(text: string, from: number, to: number) {
    this.#text = text;
    this.#at = from;
    this.#to = to;
  }

  /** Reads the value of a member, or an element without `name`. Returns false when it is cut or broken. */
  read(name: string | undefined, place: Place): boolean {
    const first = this.#next();
    if (first === '"') return this.#readString(name, place);
    if (first !== '{' && first !== '[') return this.#readWord(name, place);
    const { path, container, depth, position } = place;
    if (depth > MAX_DEPTH) return false;
    this.#at += 1;
    const inner = name === undefined ? path : pathOf(path, name);
    if (first === '{') return this.#readMembers(inner, depth === 0 ? container : containerIn(container, position), depth + 1);
    return this.#readElements(inner, position === undefined ? container : containerIn(container, position), depth + 1);
  }

  #readMembers(path: string, container: Container, depth: number): boolean {
    const place = { path, container, depth, position: undefined };
    for (;;) {
      const first = this.#next();
      if (first === ',') this.#at += 1;
      else if (first === '"') {
        const { start, end } = this.#passString();
        if (this.#next() !== ':') return false;
        this.#at += 1;
        if (!this.read(this.#decoded(start, end), place)) return false;
      } else return this.#passes(first === '}');
    }
  }

  #readElements(path: string, container: Container, depth: number): boolean {
    for (let position = 0; ;) {
      const first = this.#next();
      if (first === ']') return this.#passes(true);
      if (first === ',') this.#at += 1;
      else if (this.read(undefined, { path, container, depth, position })) position += 1;
      else return false;
    }
  }

  #readString(name: string | undefined, { path, container, depth, position }: Place): boolean {
    const { start, end } = this.#passString();
    if (name !== undefined && IDENTITY_NAMES.has(name)) container.identity.set(name, this.#decoded(start, end));
    else if ((name === 'type' || name === 'object') && depth === 1) container[name] = this.#decoded(start, end);
    else if (!WHOLE_NAMES.has(name)) {
      const inner = name === undefined ? path : pathOf(path, name);
      const own = position === undefined ? container : containerIn(container, position);
      this.texts.push({ start, end, path: inner, container: own });
    }
    return end < this.#to;
  }

  /** A number or one of `true`, `false`, `null`. */
  #readWord(name: string | undefined, { container, depth }: Place): boolean {
    const start = this.#at;
    while (this.#at < this.#to && isOfWord(this.#text.charCodeAt(this.#at))) this.#at += 1;
    const word = this.#text.slice(start, this.#at);
    if (name === 'done' && depth === 1) container.done = word;
    else if (name !== undefined && IDENTITY_NAMES.has(name) && !Number.isNaN(Number(word)))
      container.identity.set(name, String(Number(word)));
    return word !== '';
  }

  /** The next character that is not white space; empty at the end. */
  #next(): string {
    while (this.#at < this.#to && isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#at < this.#to ? this.#text.charAt(this.#at) : '';
  }

  #passes(isExpected: boolean): boolean {
    this.#at += 1;
    return isExpected;
  }

  #passString(): { readonly start: number; readonly end: number } {
    const start = this.#at + 1;
    const end = endOfString(this.#text, start, this.#to);
    this.#at = end + 1;
    return { start, end };
  }

  #decoded(start: number, end: number): string {
    const written = this.#text.slice(start, end);
    return decodedString(written) ?? written;
  }
}

function containerIn(above: Container | undefined, position: number | undefined): Container {
  return { above, position, identity: new Map() };
}

/** Complete only when the whole event has been read, because members may be in any order. */
function keyOfContainer({ above, position, identity, type = '' }: Container): string {
  // An explicit index replaces the position of an element.
  const index = String(position ?? '');
  const own =
    identity.size === 0 ? index : IDENTITIES.map((name) => identity.get(name) ?? (name === 'index' ? index : '')).join();
  return above === undefined ? `${typeOfText(type)} ${own}` : `${keyOfContainer(above)}/${own}`;
}

/** The start of a block contains the first fragment of the text that its deltas continue. */
function typeOfText(type: string): string {
  return type.endsWith('_start') || type.endsWith('_delta') ? type.slice(0, -6) : type;
}

/** The block that starts and its deltas count as the same member. */
function pathOf(path: string, name: string): string {
  return `${path}.${name === 'content_block' ? 'delta' : name}`;
}

/** Digits, small letters, and the other characters of numbers. */
function isOfWord(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || '+-.E'.includes(String.fromCharCode(code));
}
