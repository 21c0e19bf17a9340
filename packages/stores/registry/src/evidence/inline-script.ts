import { hashOf, isNamePart, type InlineLiterals } from '../rules/inline-literals.ts';

/** What a reader of scripts reports. Positions are in the page. */
export interface InlineScriptSink {
  /** A literal of a rule stands in the code. */
  name(spelling: string): void;
  /** A string literal that can be an address or an id, without white space; or a tag that the code writes. Escapes are still there. */
  text(start: number, end: number, hasEscape: boolean): void;
  /** A name whose value platforms state, and where its value begins. */
  setting(name: string, valueAt: number): void;
}

/** Names after which platforms write settings as JSON, with `=` or `:`. */
const SETTINGS = [
  'Shopify.theme', 'Shopify.shop', 'webPixelsConfigList', 'initData', 'myshopifyDomain', 'stripeConnected', 'paypalConnected',
  'Facebook Pixel', 'TikTok Pixel', 'Snapchat Pixel', 'Pinterest Pixel', 'Pinterest', 'Google Gtag Pixel', 'Google Analytics',
] as const; // prettier-ignore
const SLOTS = 1_024;
const SETTING_SLOTS = new Uint8Array(SLOTS);
for (const name of SETTINGS) SETTING_SLOTS[hashOf(name.split('.')[0] ?? '') & (SLOTS - 1)] = 1;

const OTHER = 0, NAME = 1, QUOTE = 2, SLASH = 3, SPACE = 4, DIGIT = 5, OPEN = 6, CLOSE = 7, VALUE_END = 8; // prettier-ignore
const KINDS = new Uint8Array(128);
for (let code = 0; code < 128; code++) if (isNamePart(code)) KINDS[code] = code >= 0x30 && code <= 0x39 ? DIGIT : NAME;
for (let code = 0; code <= 0x20; code++) KINDS[code] = SPACE;
for (const [characters, kind] of [
  ['"\'`', QUOTE],
  ['/', SLASH],
  ['{', OPEN],
  ['}', CLOSE],
  [')]', VALUE_END],
] as const) {
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;
}

/** Words after which a slash begins a pattern, not a division. */
const BEFORE_PATTERN = ['return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'else', 'do'];
const STRING_BOUND = 400;
const NESTING_BOUND = 64;

/**
 * Passes over the inline scripts of one page, once and in linear time: code, comments, strings, templates and patterns are told apart as
 * far as finding literals needs it. Broken scripts end at their end tag; a string of one line ends with it.
 */
export class InlineScriptReader {
  readonly #html: string;
  readonly #literals: InlineLiterals;
  readonly #sink: InlineScriptSink;
  readonly #found: (spelling: string) => void;
  /** Depth of braces at which each open `${` began. */
  readonly #templates = new Int32Array(NESTING_BOUND);
  #templateCount = 0;
  #braces = 0;
  #end = 0;
  // Where the next ones are, so that no search passes the same text twice.
  #newline = -1;
  #commentEnd = -1;
  #noPatternBefore = 0;

  constructor(html: string, literals: InlineLiterals, sink: InlineScriptSink) {
    this.#html = html;
    this.#literals = literals;
    this.#sink = sink;
    this.#found = (spelling) => sink.name(spelling);
  }

  read(start: number, end: number): void {
    const html = this.#html;
    this.#end = end;
    this.#templateCount = 0;
    this.#braces = 0;
    let i = start;
    // Whether the last token can end a value, after which a slash divides, and where it began if it was a word.
    let isAfterValue = false;
    let word = -1;
    while (i < end) {
      const code = html.charCodeAt(i);
      const kind = code < 128 ? KINDS[code] : NAME;
      if (kind === SPACE) {
        i++;
        continue;
      }
      if (kind === SLASH) {
        const isDivision: boolean = isAfterValue && (word === -1 || !isBeforePattern(html, word));
        const next = html.charCodeAt(i + 1);
        const isComment = next === 0x2f || next === 0x2a;
        i = this.#afterSlash(i, next, isDivision);
        if (!isComment) isAfterValue = !isDivision;
        continue;
      }
      word = kind === NAME ? i : -1;
      isAfterValue = kind !== OTHER && kind !== OPEN;
      if (kind === NAME) i = this.#readName(i);
      else if (kind === QUOTE) i = this.#readString(i, code);
      else if (kind === CLOSE) i = this.#closeBrace(i);
      else if (code === 0x3c && html.startsWith('!--', i + 1)) i = this.#afterNewline(i);
      else {
        if (kind === OPEN) this.#braces++;
        i++;
      }
    }
  }

  #afterSlash(at: number, next: number, isDivision: boolean): number {
    if (next === 0x2f) return this.#afterNewline(at);
    if (next === 0x2a) return this.#afterComment(at + 2);
    return isDivision ? at + 1 : this.#afterPattern(at);
  }

  #readName(start: number): number {
    const html = this.#html;
    const end = this.#end;
    let hash = 0;
    let i = start;
    for (; i < end; i++) {
      const code = html.charCodeAt(i);
      if (code < 128 && KINDS[code] !== NAME && KINDS[code] !== DIGIT) break;
      hash = (Math.imul(hash, 31) + code) | 0;
    }
    this.#literals.matchName(html, hash, start, i - start, i, this.#found);
    if (SETTING_SLOTS[hash & (SLOTS - 1)] === 1) this.#readSetting(start, i);
    return i;
  }

  #readSetting(start: number, after: number): void {
    for (const name of SETTINGS) {
      if (!this.#html.startsWith(name, start)) continue;
      let at = Math.max(start + name.length, after);
      if (isNamePart(this.#html.charCodeAt(at))) continue;
      while (at < this.#end && this.#html.charCodeAt(at) <= 0x20) at++;
      const operator = this.#html.charCodeAt(at);
      if (operator === 0x3d || operator === 0x3a) this.#sink.setting(name, at + 1);
    }
  }

  /** Reads a string or template, from its quote to behind its end. */
  #readString(start: number, quote: number): number {
    const html = this.#html;
    const end = this.#end;
    let hash = 0;
    let hasEscape = false;
    let hasSpace = false;
    let i = start + 1;
    for (; i < end; i++) {
      const code = html.charCodeAt(i);
      if (code === quote) break;
      if (code === 0x5c) {
        hasEscape = true;
        i++;
      } else if (code <= 0x20) {
        if (code === 0x0a && quote !== 0x60) break;
        hasSpace = true;
      } else if (code === 0x24 && quote === 0x60 && html.charCodeAt(i + 1) === 0x7b) {
        // What stands before the first value is the host of an address, or its beginning.
        const head = i - start - 1;
        if (!hasSpace && head >= 3 && head <= STRING_BOUND) this.#sink.text(start + 1, i, hasEscape);
        this.#openTemplate();
        return i + 2;
      }
      hash = (Math.imul(hash, 31) + code) | 0;
    }
    i = Math.min(i, end);
    const length = i - start - 1;
    if (length >= 3 && length <= STRING_BOUND) this.#reportString(start + 1, length, hash, hasSpace, hasEscape);
    return i + 1;
  }

  #reportString(start: number, length: number, hash: number, hasSpace: boolean, hasEscape: boolean): void {
    const html = this.#html;
    const after = start + length + 1;
    if (length <= this.#literals.maxLength) {
      this.#literals.matchString(html, hash, start, length, this.#found);
      // window['fbq'] is the name fbq.
      if (html.charCodeAt(start - 2) === 0x5b && html.charCodeAt(after) === 0x5d) {
        this.#literals.matchName(html, hash, start, length, after + 1, this.#found);
      } else if (SETTING_SLOTS[hash & (SLOTS - 1)] === 1) this.#readSetting(start, after);
    }
    if (!hasSpace || isWrittenTag(html, start, start + length)) this.#sink.text(start, start + length, hasEscape);
  }

  #openTemplate(): void {
    if (this.#templateCount < NESTING_BOUND) this.#templates[this.#templateCount] = this.#braces;
    this.#templateCount++;
  }

  /** A brace that ends `${` goes on with the template around it. */
  #closeBrace(at: number): number {
    const depth = this.#templateCount <= NESTING_BOUND ? this.#templates[this.#templateCount - 1] : undefined;
    if (this.#templateCount > 0 && depth === this.#braces) {
      this.#templateCount--;
      return this.#readTemplateRest(at + 1);
    }
    this.#braces--;
    return at + 1;
  }

  #readTemplateRest(from: number): number {
    for (let i = from; i < this.#end; i++) {
      const code = this.#html.charCodeAt(i);
      if (code === 0x60) return i + 1;
      if (code === 0x5c) i++;
      else if (code === 0x24 && this.#html.charCodeAt(i + 1) === 0x7b) {
        this.#openTemplate();
        return i + 2;
      }
    }
    return this.#end;
  }

  #afterNewline(from: number): number {
    if (this.#newline < from) this.#newline = orEnd(this.#html.indexOf('\n', from), this.#html.length);
    return this.#newline;
  }

  #afterComment(from: number): number {
    if (this.#commentEnd < from) this.#commentEnd = orEnd(this.#html.indexOf('*/', from), this.#html.length);
    return this.#commentEnd + 2;
  }

  #afterPattern(start: number): number {
    if (start < this.#noPatternBefore) return start + 1;
    let isInClass = false;
    let i = start + 1;
    for (; i < this.#end; i++) {
      const code = this.#html.charCodeAt(i);
      if (code === 0x0a) break;
      if (code === 0x5c) i++;
      else if (code === 0x5b) isInClass = true;
      else if (code === 0x5d) isInClass = false;
      else if (code === 0x2f && !isInClass) return i + 1;
    }
    this.#noPatternBefore = i;
    return start + 1;
  }
}

function isBeforePattern(code: string, word: number): boolean {
  return BEFORE_PATTERN.some((keyword) => code.startsWith(keyword, word) && !isNamePart(code.charCodeAt(word + keyword.length)));
}

function orEnd(index: number, end: number): number {
  return index === -1 ? end : index;
}

/** The argument of `document.write('<script ...')`, or the part of one before or after a value: there, escaped as `%3Cscript` or ending in `%3E`. */
function isWrittenTag(html: string, start: number, end: number): boolean {
  if (html.charCodeAt(start) === 0x3c) return html.startsWith('write(', start - 'write("'.length);
  return html.startsWith('%3C', start) || html.startsWith('%3E', end - '%3E'.length);
}
