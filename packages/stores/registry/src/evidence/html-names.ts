/** Elements that evidence is read from; all others give only classes and data attributes. */
export const TAGS = [
  'script',
  'link',
  'img',
  'iframe',
  'form',
  'meta',
  'a',
  'html',
  'body',
  'template',
  'svg',
  'math',
  'base',
  'title',
  'source',
] as const;
export type TagName = (typeof TAGS)[number] | 'custom' | 'breakout' | 'other';

/** Attributes that are kept of the current element. */
const ATTRIBUTES = [
  'src', 'href', 'type', 'rel', 'id', 'class', 'name', 'property', 'content', 'action', 'as', 'hreflang', 'lang', 'data-src', 'data-rocket-src', 'data-wpmeteor-src', 'data-wpmeteor-type', 'data-cmplz-src', 'suppressedsrc', 'data-cookieconsent', 'aria-labelledby',
] as const; // prettier-ignore
export type AttributeName = (typeof ATTRIBUTES)[number];

/** HTML elements that end foreign content (SVG, MathML). WHATWG, parsing, "in foreign content". */
const BREAKOUT = new Set([
  'div',
  'p',
  'span',
  'ul',
  'ol',
  'li',
  'table',
  'head',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'pre',
  'br',
  'hr',
  'foreignobject',
]);
const LONGEST = 13;
const SLOTS = 256;

/** Names of HTML by position in the page: no text is made of the names of thousands of elements. */
class NameTable<T extends string> {
  readonly #slots: (T[] | undefined)[] = Array.from({ length: SLOTS }, () => undefined);

  constructor(names: readonly T[]) {
    for (const name of names) (this.#slots[slotOf(name, 0, name.length)] ??= []).push(name);
  }

  find(html: string, start: number, end: number): T | undefined {
    const names = this.#slots[slotOf(html, start, end)];
    if (names === undefined) return undefined;
    for (const name of names) if (name.length === end - start && isName(html, start, name)) return name;
    return undefined;
  }
}

function slotOf(text: string, start: number, end: number): number {
  return ((text.charCodeAt(start) | 0x20) * 7 + (text.charCodeAt(end - 1) | 0x20) * 3 + (end - start)) & (SLOTS - 1);
}

/** Names are compared without case: `-` and digits have the bit of lower case already. */
function isName(html: string, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) if ((html.charCodeAt(start + i) | 0x20) !== name.charCodeAt(i)) return false;
  return true;
}

const TAG_TABLE = new NameTable<TagName>(TAGS);
const BREAKOUT_TABLE = new NameTable<string>([...BREAKOUT]);
const ATTRIBUTE_TABLE = new NameTable<AttributeName>(ATTRIBUTES);

export function tagAt(html: string, start: number, end: number): TagName {
  const tag = TAG_TABLE.find(html, start, end);
  if (tag !== undefined) return tag;
  if (end - start <= LONGEST && BREAKOUT_TABLE.find(html, start, end) !== undefined) return 'breakout';
  for (let i = start + 1; i < end; i++) if (html.charCodeAt(i) === 0x2d) return 'custom';
  return 'other';
}

export function attributeAt(html: string, start: number, end: number): AttributeName | undefined {
  return end - start > 18 ? undefined : ATTRIBUTE_TABLE.find(html, start, end);
}

export function isDataAttribute(html: string, start: number, end: number): boolean {
  return end - start > 5 && html.charCodeAt(start + 4) === 0x2d && isName(html, start, 'data-');
}
