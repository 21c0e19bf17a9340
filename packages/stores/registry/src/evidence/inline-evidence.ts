import type { EvidenceLists } from './evidence-list.ts';
import { type AddressReader, withoutWww, type PageAddress } from './page-address.ts';
import { PlatformSettings } from './platform-settings.ts';

const TAG_ID = /^(?:GTM|G|GT|AW|DC|UA)-[A-Z0-9][A-Z0-9-]{3,14}$/;
/** Selects strings by their first characters: an address, a tag, an id. Most strings in code are names, classes and messages. */
const CAN_BE_ADDRESS = /^(?:\/\/|\/?\\\/|<|%3|[A-Z][^[-\uFFFF].{0,18}$|[A-Za-z0-9-]+\.|h[A-Za-z0-9-]{0,4}:)/s;
/** Maximum addresses kept per host, so that the JSON of a catalogue does not displace the loaders. */
const PER_HOST = 8;
/** Maximum string literals of a page checked for addresses. 2 MB of code have fewer. */
const TEXTS_BOUND = 50_000;

/** Collects the evidence of the inline scripts of one page. */
export class InlineEvidence {
  readonly settings: PlatformSettings;
  /** The kind of the current script: code that runs, JSON, or code that waits for consent. */
  mode: 'code' | 'data' | 'blocked' = 'code';
  /** Whether a loading element was seen since the last reset, for app blocks. */
  hasLoader = false;
  readonly #html: string;
  readonly #addresses: AddressReader;
  readonly #lists: EvidenceLists;
  readonly #perHost = new Map<string, number>();
  #texts = 0;

  constructor(html: string, addresses: AddressReader, lists: EvidenceLists) {
    this.#html = html;
    this.#addresses = addresses;
    this.#lists = lists;
    this.settings = new PlatformSettings(lists.webPixels);
  }

  /** Called for a literal of a rule in the code. */
  name(spelling: string): void {
    if (this.mode === 'blocked') return;
    if (this.mode === 'code') this.hasLoader = true;
    this.#lists.inlineNames.add(spelling);
  }

  /** A string literal without white space, or a tag that the code writes. Positions are in the page. Escapes are still there. */
  text(start: number, end: number, hasEscape: boolean): void {
    const literal = this.#html.slice(start, end);
    if (literal.length < 5 || !CAN_BE_ADDRESS.test(literal) || ++this.#texts > TEXTS_BOUND) return;
    if (TAG_ID.test(literal)) {
      if (isContainerOfOptimize(this.#html, start, end)) return;
      if (this.mode !== 'blocked') this.#lists.inlineIds.add(this.mode === 'data' ? `json:${literal}` : literal);
      return;
    }
    const address = inlineAddress(literal, hasEscape, this.#addresses);
    if (address === undefined) return;
    if (this.mode === 'data') {
      if (address.host !== '') this.#lists.dataHosts.add(address.host);
      return;
    }
    if (this.mode === 'blocked') {
      if (address.host !== '') this.#lists.inertScripts.add(address.host + address.path);
      return;
    }
    // Block lists and allow lists contain only host names.
    if (!/[/?]/.test(literal)) {
      this.#lists.hints.add(address.host);
      return;
    }
    const count = (this.#perHost.get(address.host) ?? 0) + 1;
    this.#perHost.set(address.host, count);
    this.hasLoader = true;
    if (count <= PER_HOST) this.#lists.inlineUrls.add(address.host + address.path);
  }

  /** A name whose value is set by platforms, and where the value begins. */
  setting(name: string, valueAt: number): void {
    if (this.mode === 'blocked') return;
    this.settings.read(name, this.#html, valueAt, this.#html.length);
  }
}

/** Google Optimize has ids like Tag Manager, in `ga('require', 'GTM-X')` and as a key of the code that hides the page until it is loaded. */
function isContainerOfOptimize(html: string, start: number, end: number): boolean {
  return (
    html.startsWith('GTM-', start) &&
    (/^\s*:\s*(?:true|!0)/.test(html.slice(end + 1, end + 12)) || /require['"],\s*['"]$/.test(html.slice(start - 16, start)))
  );
}

/** Pictures and fonts load nothing, and the JSON of products has thousands of them. */
const MEDIA = /\.(?:jpe?g|png|gif|webp|avif|svg|ico|mp4|webm|woff2?|ttf)(?:[?&]|$)/i;
const ESCAPE = /\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\(.)/g;
/** Top-level domains of hosts that vendors write without a scheme. */
const BARE =
  /^[a-z0-9][a-z0-9-]*\.(?:[a-z0-9-]+\.){0,4}(?:com|net|io|co|org|tv|ai|chat|app|me|dev|cloud|ms|shop|store|de|uk|eu|fr|jp|it|es|nl|br|in|cn)(?:[/:?]|$)/i;
const TAG_SOURCE = /^<(?:script|iframe|img)\b[^>]{0,300}?\bsrc=\\?["']?([^"'\s>\\]+)/i;

/** The address that is the whole of a string literal in a script; undefined for anything else. */
function inlineAddress(literal: string, hasEscape: boolean, addresses: AddressReader): PageAddress | undefined {
  const text = written(hasEscape ? unescaped(literal) : literal);
  if (text.startsWith('<')) {
    const source = TAG_SOURCE.exec(text)?.[1];
    return source === undefined ? undefined : addresses.read(source);
  }
  if (MEDIA.test(text)) return undefined;
  if (/^(?:https?:)?\/\//.test(text)) return addresses.read(text);
  if (!BARE.test(text)) return undefined;
  // `theme.app` is a property of something, `cdn.attn.tv` and `vendor.com/x.js` are hosts.
  const isHost = text.includes('/') || withoutWww(text).split('.').length > 2;
  return isHost ? addresses.readBare(text) : undefined;
}

/** What `unescape` makes of a tag; of what follows a value in one, the address. */
function written(text: string): string {
  if (!text.includes('%3')) return text;
  const tag = text
    .replace(/%3C/gi, '<')
    .replace(/%3E/gi, '>')
    .replace(/%2[02]/g, ' ');
  if (tag === text || tag.startsWith('<')) return tag;
  return /^[^\s'"<>]*/.exec(tag)?.[0] ?? '';
}

function unescaped(literal: string): string {
  return literal.replace(ESCAPE, (_, unicode?: string, hex?: string, other?: string) =>
    other === undefined ? String.fromCharCode(Number.parseInt(unicode ?? hex ?? '', 16)) : other,
  );
}
