/** Elements with evidence. Of all others only classes and data attributes are read. */
const TAGS = [
  'script', 'link', 'img', 'iframe', 'form', 'meta', 'a', 'html', 'body', 'template', 'svg', 'math', 'base', 'title', 'source',
] as const; // prettier-ignore
export type TagName = (typeof TAGS)[number] | 'custom' | 'breakout' | 'other';

/** HTML elements that end foreign content (SVG, MathML). WHATWG, parsing, "in foreign content". */
const BREAKOUT = [
  'div', 'p', 'span', 'ul', 'ol', 'li', 'table', 'head', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre', 'br', 'hr', 'foreignobject',
] as const; // prettier-ignore

/** Attributes kept from the current element. */
const ATTRIBUTES = [
  'src', 'href', 'type', 'rel', 'id', 'class', 'name', 'property', 'content', 'action', 'as', 'hreflang', 'lang', 'data-src', 'data-rocket-src', 'data-wpmeteor-src', 'data-wpmeteor-type', 'data-cmplz-src', 'suppressedsrc', 'data-cookieconsent', 'aria-labelledby',
] as const; // prettier-ignore
export type AttributeName = (typeof ATTRIBUTES)[number];

const TAG_NAMES = new Map<string, TagName>([
  ...TAGS.map((tag) => [tag, tag] as const),
  ...BREAKOUT.map((tag) => [tag, 'breakout'] as const),
]);
const ATTRIBUTE_NAMES = new Map<string, AttributeName>(ATTRIBUTES.map((name) => [name, name]));

/** @param name - in lower case */
export function tagOf(name: string): TagName {
  return TAG_NAMES.get(name) ?? (name.includes('-', 1) ? 'custom' : 'other');
}

/** The attribute `name`, in lower case; undefined if it is not kept. */
export function attributeOf(name: string): AttributeName | undefined {
  return ATTRIBUTE_NAMES.get(name);
}
