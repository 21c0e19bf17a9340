import { decodeHTMLAttribute } from 'entities/decode';
import type { TokenizerCallbacks } from 'htmlparser2';
import { INLINE_LITERALS, LITERAL_VERSIONS } from '../rules/literals.ts';
import { ElementEvidence, type FetchedPageInput } from './element-evidence.ts';
import { attributeAt, isDataAttribute, tagAt, type AttributeName, type TagName } from './html-names.ts';
import { InlineScriptReader } from './inline-script.ts';
import type { PageEvidence } from './evidence.ts';

const APP_BLOCK = /^\s*(?<edge>BEGIN|END) app (?:app )?(?:block|snippet)(?:: shopify:\/\/apps\/(?<handle>[a-z0-9_-]{1,100}))?/;
const APP_BLOCK_LENGTH = 300;
const DATA_TYPE = /json|^text\/x-magento-init$/i;
/** Types that an optimizer gives to scripts it runs later, mostly words that are no media types: Rocket Loader of Cloudflare, WP Rocket,
 *  LiteSpeed, Partytown. */
const DELAYED_TYPE =
  /^(?:[0-9a-f]{16,40}-(?:(?:text|application)\/javascript|module)?|(?!(?:importmap|speculationrules|json|template|text|disabled|none|off|blocked|inactive)$)[a-z]+|(?:litespeed|delay|lazy)\/javascript|text\/partytown)$/i;
/** Types that consent tools give to scripts until somebody agrees. */
const BLOCKED_TYPE = /^(?:text\/plain|javascript\/blocked)$/i;
const JAVASCRIPT_TYPE = /^(?:module|(?:text|application)\/(?:x-)?(?:java|ecma)script(?:;.*)?|text\/jscript|text\/livescript)?$/i;

/** The callbacks of the tokenizer: follows one page and hands over elements, comments and scripts. Keeps positions, not text. */
export class PageReader implements TokenizerCallbacks {
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
    this.#scripts = new InlineScriptReader(page.html, INLINE_LITERALS, this.#elements.inline);
  }

  evidence(): PageEvidence {
    return this.#elements.evidence(LITERAL_VERSIONS.version);
  }

  onopentagname(start: number, end: number): void {
    this.#tag = tagAt(this.#html, start, end);
    this.#values.clear();
    if (this.#tag === 'custom') this.#elements.customElement(this.#html.slice(start, end));
  }

  onattribname(start: number, end: number): void {
    this.#attribute = attributeAt(this.#html, start, end);
    this.#valueStart = -1;
    if (isDataAttribute(this.#html, start, end)) this.#elements.dataAttribute(this.#html, start, end);
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
    else if (name === 'aria-labelledby' && raw.startsWith('pi-')) this.#elements.paymentIcon(raw);
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
    const tag = tagAt(this.#html, start, end);
    if (tag === 'svg' || tag === 'math') this.#isForeign = false;
    else if (tag === 'template' && this.#templates > 0) this.#templates--;
  }

  ontext(start: number, end: number): void {
    if (this.#script === 'linked-data') this.#elements.jsonLd(this.#html.slice(start, end));
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

  // Text has no entities of its own here, and documents no instructions.
  onattribentity(): void {}
  oncdata(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
  ontextentity(): void {}

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
    if (!isCode && !isLinkedData && type !== 'application/json') this.#elements.scriptType(type);
    // What does not run is read neither for names nor for addresses, but JSON holds settings of platforms, and blocked code addresses.
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
