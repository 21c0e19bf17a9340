import { inlineAddress } from './inline-address.ts';
import { EvidenceList } from './evidence-list.ts';
import type { InlineScriptSink } from './inline-script.ts';
import type { AddressReader } from './page-address.ts';
import { PlatformSettings } from './platform-settings.ts';

const TAG_ID = /^(?:GTM|G|GT|AW|DC|UA)-[A-Z0-9][A-Z0-9-]{3,14}$/;
/** Addresses of one host that are kept: the JSON of a catalogue must not push the loaders out. */
const PER_HOST = 8;
/** String literals of a page that are looked at as addresses: 2 MB of code have fewer. */
const TEXTS_BOUND = 50_000;

/** What inline scripts of a page show. */
export class InlineEvidence implements InlineScriptSink {
  readonly urls = new EvidenceList('inlineUrls');
  readonly names = new EvidenceList('inlineNames');
  readonly ids = new EvidenceList('inlineIds');
  readonly dataHosts = new EvidenceList('dataHosts');
  readonly webPixels = new EvidenceList('webPixels');
  readonly settings = new PlatformSettings(this.webPixels);
  /** What the current script holds: code that runs, JSON, or code that waits for consent. */
  mode: 'code' | 'data' | 'blocked' = 'code';
  /** Whether something that loads was seen since the last reset, for app blocks. */
  hasLoader = false;
  readonly #html: string;
  readonly #addresses: AddressReader;
  readonly #inertScripts: EvidenceList;
  readonly #hints: EvidenceList;
  readonly #perHost = new Map<string, number>();
  #texts = 0;

  constructor(
    html: string,
    addresses: AddressReader,
    lists: { readonly inertScripts: EvidenceList; readonly hints: EvidenceList },
  ) {
    this.#inertScripts = lists.inertScripts;
    this.#hints = lists.hints;
    this.#html = html;
    this.#addresses = addresses;
  }

  name(spelling: string): void {
    if (this.mode === 'blocked') return;
    if (this.mode === 'code') this.hasLoader = true;
    this.names.add(spelling);
  }

  text(start: number, end: number, hasEscape: boolean): void {
    if (!canBeAddress(this.#html, start, end) || ++this.#texts > TEXTS_BOUND) return;
    const literal = this.#html.slice(start, end);
    if (TAG_ID.test(literal)) {
      if (isContainerOfOptimize(this.#html, start, end)) return;
      if (this.mode !== 'blocked') this.ids.add(this.mode === 'data' ? `json:${literal}` : literal);
      return;
    }
    const address = inlineAddress(literal, hasEscape, this.#addresses);
    if (address === undefined) return;
    if (this.mode === 'data') {
      if (address.host !== '') this.dataHosts.add(address.host);
      return;
    }
    if (this.mode === 'blocked') {
      if (address.host !== '') this.#inertScripts.add(address.host + address.path);
      return;
    }
    // Lists of hosts to block or to allow have their names alone.
    if (!/[/?]/.test(literal)) {
      this.#hints.add(address.host);
      return;
    }
    const count = (this.#perHost.get(address.host) ?? 0) + 1;
    this.#perHost.set(address.host, count);
    this.hasLoader = true;
    if (count <= PER_HOST) this.urls.add(address.host + address.path);
  }

  setting(name: string, valueAt: number): void {
    if (this.mode === 'blocked') return;
    this.settings.read(name, this.#html, valueAt, this.#html.length);
  }
}

/** Looks at the first characters only: most strings of code are names, classes and messages. */
function canBeAddress(html: string, start: number, end: number): boolean {
  const length = end - start;
  if (length < 5) return false;
  const first = html.charCodeAt(start);
  const second = html.charCodeAt(start + 1);
  if (first === 0x2f) return second === 0x2f || (second === 0x5c && html.charCodeAt(start + 2) === 0x2f);
  if (first === 0x5c) return second === 0x2f;
  if (first === 0x3c) return true;
  if (first === 0x25) return second === 0x33;
  if (first >= 0x41 && first <= 0x5a && length <= 20 && html.charCodeAt(start + 1) <= 0x5a) return true;
  for (let i = start; i < end; i++) {
    const code = html.charCodeAt(i);
    if (code === 0x2e) return i > start;
    // `https:` and names of hosts only.
    const isHost = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
    if (!isHost && code !== 0x2d && !(code >= 0x30 && code <= 0x39)) return code === 0x3a && i - start <= 5 && first === 0x68;
  }
  return false;
}

/** Google Optimize has ids as Tag Manager has, in `ga('require', 'GTM-X')` and as the key of what hides the page until it is there. */
function isContainerOfOptimize(html: string, start: number, end: number): boolean {
  return (
    html.startsWith('GTM-', start) &&
    (/^\s*:\s*(?:true|!0)/.test(html.slice(end + 1, end + 12)) || /require['"],\s*['"]$/.test(html.slice(start - 16, start)))
  );
}
