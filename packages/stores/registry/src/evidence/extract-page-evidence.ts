import { decodeHTMLAttribute } from 'entities/decode';
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { LITERAL_VERSIONS } from '../rules/literals.ts';
import { ElementEvidence, type FetchedPageInput } from './element-evidence.ts';
import { attributeOf, tagOf, type AttributeName, type TagName } from './html-names.ts';
import { InlineScriptReader } from './inline-script.ts';
import type { PageEvidence } from './evidence.ts';

const APP_BLOCK = /^\s*(?<edge>BEGIN|END) app (?:app )?(?:block|snippet)(?:: shopify:\/\/apps\/(?<handle>[a-z0-9_-]{1,100}))?/;
const APP_BLOCK_LENGTH = 300;
/** Length at which ids of payment icons are cut. */
const ICON_BOUND = 60;
/** Longer names are skipped. */
const DATA_ATTRIBUTE = /^data-.{1,55}$/s;
const DATA_TYPE = /json|^text\/x-magento-init$/i;
/** Types that an optimizer gives to scripts that it runs later, mostly not media types: Rocket Loader of Cloudflare, WP Rocket,
 *  LiteSpeed, Partytown. */
const DELAYED_TYPE =
  /^(?:[0-9a-f]{16,40}-(?:(?:text|application)\/javascript|module)?|(?!(?:importmap|speculationrules|json|template|text|disabled|none|off|blocked|inactive)$)[a-z]+|(?:litespeed|delay|lazy)\/javascript|text\/partytown)$/i;
/** Types that consent tools give to scripts until consent. */
const BLOCKED_TYPE = /^(?:text\/plain|javascript\/blocked)$/i;
const JAVASCRIPT_TYPE = /^(?:module|(?:text|application)\/(?:x-)?(?:java|ecma)script(?:;.*)?|text\/jscript|text\/livescript)?$/i;

/** Reads the evidence of one page in one pass, in time linear in its length, for any content. Pure. The text is not changed and nothing is fetched
 *  or run. Spec: S8.8. */
export function extractPageEvidence(page: FetchedPageInput): PageEvidence {
  const reader = new PageReader(page);
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader);
  tokenizer.write(page.html);
  tokenizer.end();
  return reader.evidence();
}

/** The callbacks of the tokenizer: reads elements, comments and scripts of one page. Keeps positions, not text. */
class PageReader implements TokenizerCallbacks {
  readonly #html: string;
  readonly #elements: ElementEvidence;
  readonly #scripts: InlineScriptReader;
  #tag: TagName = 'other';
  /** Attributes of the current element: name, start and end of the value. */
  readonly #values = new Map<AttributeName, string>();
  #attribute: AttributeName | undefined;
  #valueStart = -1;
  #valueEnd = -1;
  #script: 'code' | 'data' | 'blocked' | 'linked-data' | undefined;
  #isTitle = false;
  #isForeign = false;
  #templates = 0;

  constructor(page: FetchedPageInput) {
    this.#html = page.html;
    this.#elements = new ElementEvidence(page);
    this.#scripts = new InlineScriptReader(page.html, this.#elements.inline);
  }

  evidence(): PageEvidence {
    return this.#elements.evidence(LITERAL_VERSIONS.version);
  }

  onopentagname(start: number, end: number): void {
    const name = this.#nameAt(start, end);
    this.#tag = tagOf(name);
    this.#values.clear();
    if (this.#tag === 'custom') this.#elements.lists.elements.add(name);
  }

  onattribname(start: number, end: number): void {
    const name = this.#nameAt(start, end);
    this.#attribute = attributeOf(name);
    this.#valueStart = -1;
    if (DATA_ATTRIBUTE.test(name)) this.#elements.lists.attributes.add(name.slice('data-'.length));
  }

  onattribdata(start: number, end: number): void {
    if (this.#valueStart === -1) this.#valueStart = start;
    this.#valueEnd = end;
  }

  onattribend(): void {
    const name = this.#attribute;
    if (name === undefined || (this.#tag === 'other' && name !== 'class' && name !== 'aria-labelledby')) return;
    const isPlain = this.#tag === 'other' || this.#tag === 'breakout' || this.#tag === 'custom';
    const raw = this.#valueStart === -1 ? '' : this.#html.slice(this.#valueStart, this.#valueEnd);
    if (name === 'class') this.#elements.classes(raw);
    else if (name === 'aria-labelledby' && raw.startsWith('pi-')) this.#elements.lists.attributes.add(raw.slice(0, ICON_BOUND));
    if (isPlain || this.#values.has(name)) return;
    this.#values.set(name, raw.includes('&') ? decodeHTMLAttribute(raw) : raw);
  }

  onopentagend(): void {
    this.#open(false);
  }

  onselfclosingtag(): void {
    this.#open(true);
  }

  onclosetag(start: number, end: number): void {
    this.#script = undefined;
    this.#isTitle = false;
    const tag = tagOf(this.#nameAt(start, end));
    if (tag === 'svg' || tag === 'math') this.#isForeign = false;
    else if (tag === 'template' && this.#templates > 0) this.#templates--;
  }

  ontext(start: number, end: number): void {
    if (this.#script === 'linked-data') this.#elements.jsonLd.read(this.#html.slice(start, end));
    else if (this.#script !== undefined) {
      this.#elements.inline.mode = this.#script;
      this.#scripts.read(start, end);
    } else if (this.#isTitle) this.#elements.title(this.#html.slice(start, end));
  }

  oncomment(start: number, end: number): void {
    if (end - start > APP_BLOCK_LENGTH) return;
    const groups = APP_BLOCK.exec(this.#html.slice(start, end))?.groups;
    if (groups === undefined) return;
    if (groups['edge'] === 'BEGIN') this.#elements.beginAppBlock(groups['handle']);
    else this.#elements.endAppBlock();
  }

  isInForeignContext(): boolean {
    return this.#isForeign;
  }

  // Entities in text and processing instructions are ignored.
  onattribentity(): void {}
  oncdata(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
  ontextentity(): void {}

  #nameAt(start: number, end: number): string {
    return this.#html.slice(start, end).toLowerCase();
  }

  #open(isSelfClosing: boolean): void {
    const tag = this.#tag;
    if (tag === 'other' || tag === 'custom') return;
    if (tag === 'breakout') this.#isForeign = false;
    else if (tag === 'svg' || tag === 'math') this.#isForeign = !isSelfClosing;
    else if (tag === 'template') this.#templates++;
    else if (tag === 'title') this.#isTitle = !this.#isForeign;
    else if (tag === 'script') this.#openScript();
    else this.#elements.element(tag, this.#values);
  }

  #openScript(): void {
    const type = (this.#values.get('type') ?? '').trim();
    const isLinkedData = type.toLowerCase() === 'application/ld+json';
    const use = this.#useOf(type);
    this.#elements.script(this.#values, use);
    const isCode = use === 'runs' || use === 'late';
    if (!isCode && !isLinkedData && type !== 'application/json') this.#elements.lists.scriptIds.add(`type:${type.toLowerCase()}`);
    // Other scripts do not run. Only their JSON (settings of platforms) and blocked code (addresses) are read.
    if (isLinkedData) this.#script = 'linked-data';
    else if (isCode) this.#script = 'code';
    else if (DATA_TYPE.test(type)) this.#script = 'data';
    else this.#script = use === 'waits' ? 'blocked' : undefined;
  }

  #useOf(type: string): 'runs' | 'late' | 'waits' | 'none' {
    if (this.#templates > 0) return 'none';
    if (JAVASCRIPT_TYPE.test(type)) return 'runs';
    if (DELAYED_TYPE.test(type) || this.#values.has('data-wpmeteor-type')) return 'late';
    return BLOCKED_TYPE.test(type) ? 'waits' : 'none';
  }
}
