import { META_BOUND, TEXT_BOUND, type PageClass, type PageEvidence } from './evidence.ts';
import { createEvidenceLists, listValues } from './evidence-list.ts';
import { InlineEvidence } from './inline-evidence.ts';
import { JsonLdReader } from './json-ld.ts';
import { AddressReader, type PageAddress } from './page-address.ts';
import { PageLinks } from './page-links.ts';
import { addPolicyHosts, headerEvidence, type ResponseHeaders } from './response-evidence.ts';
import type { AttributeName, TagName } from './html-names.ts';

type Attributes = ReadonlyMap<AttributeName, string>;

/** Maximum distinct `class` values that are split. */
const CLASS_VALUES_BOUND = 3_000;
/** Maximum length of a first class part that identifies no vendor, and of a second part that is layout. */
const SHORT_PART = 2;
const LAYOUT_PART = 4;
const CLASS_PARTS = /^(.[^-_]*)(?:[-_]([^-_]*))?/s;
/** Maximum length read of one attribute. */
const CLASS_BOUND = 1_000;
/** Attributes with the address of scripts. Optimizers and consent tools move it. */
const SOURCES = ['src', 'data-rocket-src', 'data-wpmeteor-src', 'data-cmplz-src', 'suppressedsrc', 'data-src'] as const;
/** Meta elements with text about the page. */
const PROSE = /description|keywords|title|^twitter:|og:image/i;
const HINT = /^(?:preconnect|dns-prefetch|prefetch)$/;

/** A fetched page: decoded to text, after redirects. */
export interface FetchedPageInput {
  readonly html: string;
  readonly url: string;
  readonly pageClass: PageClass;
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: ResponseHeaders;
  /** Names of Set-Cookie, never values. */
  readonly cookies?: readonly string[];
}

/** Collects the evidence from elements of one page. */
export class ElementEvidence {
  readonly lists = createEvidenceLists();
  readonly inline: InlineEvidence;
  readonly jsonLd = new JsonLdReader();
  readonly #page: FetchedPageInput;
  readonly #addresses: AddressReader;
  readonly #host: string;
  readonly #metas: Record<string, string> = {};
  #metaCount = 0;
  readonly #links = new PageLinks(this.lists.linkHosts);
  readonly #classValues = new Set<string>();
  #lang: string | null = null;
  #title: string | null = null;
  #canonical: string | null = null;
  #appBlock: string | undefined;

  constructor(page: FetchedPageInput) {
    this.#page = page;
    this.#host = URL.parse(page.url)?.hostname ?? '';
    this.#addresses = new AddressReader(this.#host);
    this.inline = new InlineEvidence(page.html, this.#addresses, this.lists);
    for (const cookie of page.cookies ?? []) this.lists.cookies.add(cookie);
    addPolicyHosts(page.headers ?? {}, this.lists.hints);
  }

  element(tag: TagName, attributes: Attributes): void {
    if (tag === 'a') this.#read(attributes.get('href'), (address) => this.#links.add(address));
    else if (tag === 'img' || tag === 'source')
      this.#read(attributes.get('src') ?? attributes.get('data-src'), (address) => this.lists.images.add(shortened(address))); // prettier-ignore
    else if (tag === 'link') this.#link(attributes);
    else if (tag === 'meta') this.#meta(attributes);
    else if (tag === 'iframe') this.#load('frames', attributes.get('src') ?? attributes.get('data-src'));
    else if (tag === 'form') this.#load('forms', attributes.get('action'), false);
    else if (tag === 'html') this.#lang ??= cut(attributes.get('lang'));
    else if (tag === 'base') this.#addresses.setBase(attributes.get('href') ?? '');
  }

  /** @param use - `late`: an optimizer moves the address from another attribute and runs it later; `waits`: for consent; `none`: never runs. */
  script(attributes: Attributes, use: 'runs' | 'late' | 'waits' | 'none'): void {
    this.#id(attributes.get('id'));
    const source = SOURCES.map((name) => attributes.get(name)).find((value) => value !== undefined);
    if (source === undefined || source === '' || use === 'none') return;
    const isFree = (attributes.get('data-cookieconsent') ?? 'ignore') === 'ignore';
    const isLoaded = isFree && (use === 'late' || (use === 'runs' && attributes.has('src')));
    this.#load(isLoaded ? 'scripts' : 'inertScripts', source, isLoaded);
  }

  /** First parts of classes, or two parts if the first has only one or two letters: `jdgm` of `jdgm-widget`, `w-commerce`. */
  classes(value: string): void {
    if (value === '' || this.#classValues.size >= CLASS_VALUES_BOUND || this.#classValues.has(value)) return;
    this.#classValues.add(value);
    const names = value.slice(0, CLASS_BOUND).split(/[\t\n\f\r ]+/);
    if (value.length > CLASS_BOUND) names.pop();
    for (const name of names) {
      const [twoParts = '', first = '', second = ''] = CLASS_PARTS.exec(name) ?? [];
      if (first === '') continue;
      this.lists.classes.add(first);
      // `mt-4` and `w-full` are layout.
      if (first.length <= SHORT_PART && second.length > LAYOUT_PART) this.lists.classes.add(twoParts);
    }
  }

  title(text: string): void {
    this.#title ??= cut(text.slice(0, TEXT_BOUND * 2).trim());
  }

  beginAppBlock(handle: string | undefined): void {
    if (handle === undefined) return;
    this.endAppBlock();
    this.#appBlock = handle;
    this.inline.hasLoader = false;
  }

  endAppBlock(): void {
    if (this.#appBlock === undefined) return;
    (this.inline.hasLoader ? this.lists.appBlocks : this.lists.emptyAppBlocks).add(this.#appBlock);
    this.#appBlock = undefined;
  }

  evidence(literals: number): PageEvidence {
    this.endAppBlock();
    const truncated = Object.values(this.lists).flatMap(({ isTruncated, name }) => (isTruncated ? [name as string] : []));
    if (this.#metaCount > META_BOUND) truncated.push('metas');
    return {
      version: 1,
      pageClass: this.#page.pageClass,
      url: this.#page.url.slice(0, 2_048),
      host: this.#host.slice(0, TEXT_BOUND),
      status: this.#page.status ?? 200,
      literals,
      truncated,
      ...listValues(this.lists),
      headers: headerEvidence(this.#page.headers ?? {}),
      metas: this.#metas,
      facts: this.inline.settings.facts,
      jsonLd: this.jsonLd.facts,
      lang: this.#lang,
      title: this.#title,
      canonical: this.#canonical,
      links: this.#links.links,
    };
  }

  #id(id: string | undefined): void {
    if (id !== undefined) this.lists.scriptIds.add(id);
  }

  #read(value: string | undefined, take: (address: PageAddress) => void): void {
    if (value === undefined) return;
    const address = this.#addresses.read(value);
    if (address !== undefined) take(address);
  }

  #load(list: 'scripts' | 'inertScripts' | 'assets' | 'frames' | 'forms', value: string | undefined, loads = true): void {
    this.#read(value, ({ host, path }) => {
      this.lists[list].add(host + path);
      if (loads) this.inline.hasLoader = true;
    });
  }

  #link(attributes: Attributes): void {
    const rel = (attributes.get('rel') ?? '').trim().toLowerCase();
    const href = attributes.get('href');
    if (HINT.test(rel)) this.#read(href, ({ host }) => host !== '' && this.lists.hints.add(host));
    else if (rel === 'canonical') this.#canonical ??= cut(href);
    else if (rel === 'alternate' && attributes.has('hreflang')) {
      this.lists.hreflang.add(`${attributes.get('hreflang') ?? ''} ${href ?? ''}`);
    } else if (rel === 'preload' && (attributes.get('as') ?? '').toLowerCase() === 'script') {
      // Frameworks preload scripts that they run later.
      this.#load('scripts', href);
    } else if (rel === 'stylesheet' || rel === 'modulepreload' || rel === 'preload') this.#load('assets', href, false);
  }

  #meta(attributes: Attributes): void {
    const name = (attributes.get('name') ?? attributes.get('property') ?? '').trim().toLowerCase().slice(0, TEXT_BOUND);
    const content = attributes.get('content');
    if (name === '') this.#id(attributes.get('id'));
    if (name === '' || content === undefined || PROSE.test(name)) return;
    const before = Object.hasOwn(this.#metas, name) ? this.#metas[name] : undefined;
    if (before !== undefined) {
      // WordPress and each of its plugins name themselves as generator.
      if (name === 'generator') this.#metas[name] = `${before}\n${content}`.slice(0, TEXT_BOUND);
      return;
    }
    if (++this.#metaCount <= META_BOUND) this.#metas[name] = content.slice(0, TEXT_BOUND);
  }
}

/** The host and two segments of the path. */
function shortened({ host, path }: PageAddress): string {
  const second = path.indexOf('/', 1);
  const third = second === -1 ? -1 : path.indexOf('/', second + 1);
  return host + (third === -1 ? path : path.slice(0, third));
}

function cut(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text.slice(0, TEXT_BOUND);
}
