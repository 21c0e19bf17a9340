import { matchesAt } from '../rules/inline-literals.ts';
import { INLINE_LITERALS } from '../rules/literals.ts';
import type { InlineEvidence } from './inline-evidence.ts';

/** Names after which platforms write settings as JSON, with `=` or `:`. */
const SETTINGS = [
  'Shopify.theme', 'Shopify.shop', 'webPixelsConfigList', 'initData', 'myshopifyDomain', 'stripeConnected', 'paypalConnected',
  'Facebook Pixel', 'TikTok Pixel', 'Snapchat Pixel', 'Pinterest Pixel', 'Pinterest', 'Google Gtag Pixel', 'Google Analytics',
] as const; // prettier-ignore
const SETTING_HEADS = new Set(SETTINGS.map((name) => name.split('.', 1)[0]));
const NAME_PART = /[\w$]/;

const OTHER = 0, NAME = 1, QUOTE = 2, SLASH = 3, SPACE = 4, DIGIT = 5, OPEN = 6, CLOSE = 7, VALUE_END = 8; // prettier-ignore
const KINDS = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  if (NAME_PART.test(character)) KINDS[code] = /\d/.test(character) ? DIGIT : NAME;
}
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
const BEFORE_PATTERN = /(?:return|typeof|case|in|of|delete|void|else|do)(?![\w$])/y;
/** Letters outside ASCII count as parts of a name. */
const NAME_REST = /[\w$\u0080-\uFFFF]*/y;
const STRING_BOUND = 400;
const NESTING_BOUND = 64;

/** Scans the inline scripts of one page once, in linear time. Distinguishes code, comments, strings, templates and patterns as far as needed to
 *  find literals. Broken scripts end at their end tag, and a one-line string ends with its line. */
export class InlineScriptReader {
  readonly #html: string;
  readonly #evidence: InlineEvidence;
  /** Brace depth at which each open `${` began. */
  readonly #templates: number[] = [];
  #braces = 0;
  #end = 0;
  // Positions of the next ones, so that no search passes the same text twice.
  #newline = -1;
  #commentEnd = -1;
  #noPatternBefore = 0;

  constructor(html: string, evidence: InlineEvidence) {
    this.#html = html;
    this.#evidence = evidence;
  }

  read(start: number, end: number): void {
    const html = this.#html;
    this.#end = end;
    this.#templates.length = 0;
    this.#braces = 0;
    let i = start;
    // Whether the last token can end a value, after which a slash is a division, and where it began if it was a word.
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
        const isDivision: boolean = isAfterValue && (word === -1 || !matchesAt(BEFORE_PATTERN, html, word));
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
    matchesAt(NAME_REST, this.#html, start);
    const end = Math.min(NAME_REST.lastIndex, this.#end);
    this.#reportName(this.#html.slice(start, end), end);
    if (SETTING_HEADS.has(this.#html.slice(start, end))) this.#readSetting(start, end);
    return end;
  }

  /** @param next - where the chain or operator after the name begins */
  #reportName(name: string, next: number): void {
    for (const spelling of INLINE_LITERALS.ofName(this.#html, name, next)) this.#evidence.name(spelling);
  }

  #readSetting(start: number, after: number): void {
    for (const name of SETTINGS) {
      if (!this.#html.startsWith(name, start)) continue;
      let at = Math.max(start + name.length, after);
      if (NAME_PART.test(this.#html.charAt(at))) continue;
      while (at < this.#end && this.#html.charCodeAt(at) <= 0x20) at++;
      const operator = this.#html.charCodeAt(at);
      if (operator === 0x3d || operator === 0x3a) this.#evidence.setting(name, at + 1);
    }
  }

  /** Reads a string or template, from its quote to after its end. */
  #readString(start: number, quote: number): number {
    const html = this.#html;
    const end = this.#end;
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
        // The text before the first value is the host of an address, or its beginning.
        const head = i - start - 1;
        if (!hasSpace && head >= 3 && head <= STRING_BOUND) this.#evidence.text(start + 1, i, hasEscape);
        this.#openTemplate();
        return i + 2;
      }
    }
    i = Math.min(i, end);
    const length = i - start - 1;
    if (length >= 3 && length <= STRING_BOUND) this.#reportString(start + 1, i, hasSpace, hasEscape);
    return i + 1;
  }

  #reportString(start: number, end: number, hasSpace: boolean, hasEscape: boolean): void {
    const html = this.#html;
    const text = html.slice(start, end);
    for (const spelling of INLINE_LITERALS.ofString(text)) this.#evidence.name(spelling);
    // window['fbq'] is the name fbq.
    if (html[start - 2] === '[' && html[end + 1] === ']') this.#reportName(text, end + 2);
    else if (SETTING_HEADS.has(text)) this.#readSetting(start, end + 1);
    if (!hasSpace || isWrittenTag(html, start, end)) this.#evidence.text(start, end, hasEscape);
  }

  #openTemplate(): void {
    if (this.#templates.length < NESTING_BOUND) this.#templates.push(this.#braces);
  }

  /** A brace that ends `${` continues the enclosing template. */
  #closeBrace(at: number): number {
    if (this.#templates.at(-1) === this.#braces) {
      this.#templates.pop();
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

function orEnd(index: number, end: number): number {
  return index === -1 ? end : index;
}

/** The argument of `document.write('<script ...')`, or its part before or after a value, then escaped as `%3Cscript` or ending in `%3E`. */
function isWrittenTag(html: string, start: number, end: number): boolean {
  if (html.charCodeAt(start) === 0x3c) return html.startsWith('write(', start - 'write("'.length);
  return html.startsWith('%3C', start) || html.startsWith('%3E', end - '%3E'.length);
}
