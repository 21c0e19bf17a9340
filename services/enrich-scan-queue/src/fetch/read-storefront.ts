import type { PageClass, PageEvidence } from '@vitrine/registry/evidence/evidence';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import { withoutWww } from '@vitrine/registry/evidence/page-address';
import type { CatalogSource } from '../catalog/catalog-page.ts';
import { catalogSourceOf } from '../catalog/catalog-sources.ts';
import { sitemapProducts } from '../catalog/sources/sitemap-products.ts';
import type { FetchedDocument, Redirect } from '../scan/scan-ports.ts';
import { ScanDelayed, type FetchSession, type SessionResponse } from './fetch-session.ts';
import type { FetchLimits } from './fetch-settings.ts';
import { FetchError } from './network/fetch-error.ts';
import { checkUrl } from './network/check-url.ts';
import type { BodyLimit } from './network/read-body.ts';
import { readProductPaths } from './read-sitemaps.ts';
import { Coverage } from './plan/coverage.ts';
import { platformHint } from './plan/platform-hint.ts';
import { CART_PATHS, COLLECTION_PATHS, platformLinks, type PageLinks } from './plan/platform-links.ts';

export const HTML_ACCEPT = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1';
const JSON_ACCEPT = 'application/json';
const XML_ACCEPT = 'application/xml,text/xml;q=0.9,*/*;q=0.1';
/** Failed requests after the home page, after which the rest is skipped. */
const MAX_FAILURES = 3;
/** Maximum product page addresses taken from a catalogue. */
const MAX_FOUND = 3;
/** Maximum addresses tried for a page class. */
const MAX_TRIED = 2;
/** Control characters other than white space. A few are mistakes in a page. Many mean that it is not text. */
const BINARY = /[^\P{Cc}\s]/gu;
const SNIFFED_CHARS = 1_000;
const KEPT_HEADERS = ['x-wp-total', 'x-wp-totalpages', 'resources', 'content-type', 'last-modified'];

/** Reads the planned pages after the home page: the catalogue endpoints of the platform, then one page of each class. Each class and document may
 *  fail without affecting others. A bot defence, throttling, the deadline or the gate ends the reading, and the data read so far is kept. */
export class StorefrontReader {
  readonly #session: FetchSession;
  readonly #limits: FetchLimits;
  readonly #home: PageEvidence;
  readonly #pages: PageEvidence[] = [];
  readonly #documents: FetchedDocument[] = [];
  readonly #redirects: Redirect[] = [];
  readonly #coverage = new Coverage();
  #failures = 0;
  #stopped = false;

  readonly #platform: string | undefined;
  readonly #ownLinks: PageLinks;

  /** Keeps nothing of the text of the home page. */
  constructor(session: FetchSession, limits: FetchLimits, home: SessionResponse) {
    this.#session = session;
    this.#limits = limits;
    this.#platform = platformHint(home);
    this.#ownLinks = platformLinks(home.text, this.#platform);
    this.#home = toPage('home', home);
  }

  async read() {
    const { links } = this.#home;
    const [platform, own] = [this.#platform, this.#ownLinks];
    const collections = [...links.collection, ...own.collection, ...known(platform, COLLECTION_PATHS)];
    const found = platform === undefined ? [] : await this.#readCatalog(platform, collections);
    await this.#readClass('collection', collections);
    await this.#readClass('product', [...links.product, ...found, ...own.product]);
    await this.#readClass('cart', [...links.cart, ...own.cart, ...known(platform, CART_PATHS)]);
    return {
      pages: [this.#home, ...this.#pages],
      documents: this.#documents,
      redirects: this.#redirects,
      coverage: this.#coverage,
    };
  }

  /** Returns addresses of products that it found. Sitemaps are for platforms without an endpoint, and shops that have closed theirs. */
  async #readCatalog(platform: string, collections: readonly string[]): Promise<string[]> {
    if (platform === 'shopify') await this.#readDocument('shopify_meta', '/meta.json', JSON_ACCEPT);
    const source = catalogSourceOf(platform);
    const found = source && (await this.#readEndpoint(source, collections));
    return found ?? this.#readSitemaps(platform);
  }

  /** Undefined if the response is not one that the source reads. */
  async #readEndpoint(source: CatalogSource, collections: readonly string[]): Promise<string[] | undefined> {
    let found: string[] | undefined;
    let previous: FetchedDocument | undefined;
    for (let page = 1; page <= this.#limits.maxCataloguePages; page += 1) {
      const path = source.request(page, { collections, previous });
      if (path === undefined) break;
      const document = await this.#readDocument(source.kind, path, source.listsProducts ? JSON_ACCEPT : XML_ACCEPT);
      const read = document && source.read(document);
      if (document === undefined || read === undefined) break;
      found ??= read.products.flatMap(({ address }) => address ?? []).slice(0, MAX_FOUND);
      previous = document;
      if (!source.listsProducts || !read.isFull) break;
    }
    return found;
  }

  async #readSitemaps(platform: string): Promise<string[]> {
    const { href, hostname: host } = new URL(this.#home.url);
    const named = this.#session.sitemaps.filter((sitemap) => this.#isOwn(URL.parse(sitemap)));
    const readXml = (address: string) => this.#readXml(address);
    const paths = await readProductPaths({ named, platform, host, readXml });
    if (paths === undefined) return [];
    this.#documents.push({ kind: sitemapProducts.kind, url: href, status: 200, headers: {}, body: paths });
    this.#coverage.note('Products are those that the sitemap names.');
    return paths.slice(0, MAX_TRIED);
  }

  async #readXml(address: string): Promise<string> {
    const response = await this.#get(
      address,
      XML_ACCEPT,
      { maxBytes: this.#limits.maxDocumentBytes, isGzipFile: true },
      'the sitemap',
    );
    return response === undefined || response === 'excluded' || response.status !== 200 ? '' : response.text;
  }

  /** Undefined without a response, for an error on the first page, or for another format than requested. */
  async #readDocument(kind: string, path: string, accept: string): Promise<FetchedDocument | undefined> {
    const response = await this.#get(path, accept, { maxBytes: this.#limits.maxDocumentBytes }, kind);
    if (response === 'excluded') this.#coverage.note(`robots.txt excludes ${kind}.`);
    if (response === 'excluded' || response === undefined) return undefined;
    const { status, text } = response;
    const isError = status >= 300;
    const isKnown = this.#documents.some((document) => document.kind === kind);
    // An error on a later page means that the catalogue was cut. An error on the first page means that there is no such endpoint.
    if (isError && !isKnown) return undefined;
    const body = isError ? null : accept === JSON_ACCEPT ? parseJson(text) : text;
    if (body === undefined) this.#coverage.note(`${kind} was not JSON.`);
    const document = { kind, url: response.url.href, status, headers: keptHeaders(response.headers), body: body ?? null };
    this.#documents.push(document);
    return document;
  }

  /** Reads the first address that is a page of the storefront; tries two. */
  async #readClass(pageClass: PageClass, paths: readonly string[]): Promise<void> {
    let result: 'missing' | 'excluded' = 'missing';
    for (const path of [...new Set(paths)].slice(0, MAX_TRIED)) {
      const response = await this.#get(path, HTML_ACCEPT, { maxBytes: this.#limits.maxHtmlBytes }, `the ${pageClass} page`);
      if (response === 'excluded') result = 'excluded';
      else if (response !== undefined && isPage(response) && response.url.pathname !== '/') {
        this.#pages.push(toPage(pageClass, response));
        this.#redirects.push(...response.redirects);
        return this.#coverage.record(pageClass, 'read');
      }
    }
    if (result === 'excluded') this.#coverage.note(`robots.txt excludes the ${pageClass} page.`);
    this.#coverage.record(pageClass, result);
  }

  async #get(path: string, accept: string, limit: BodyLimit, what: string): Promise<SessionResponse | 'excluded' | undefined> {
    if (this.#stopped) return undefined;
    const url = this.#addressOf(path);
    if (url === undefined) return undefined;
    try {
      const response = await this.#session.get(url, { accept, limit });
      return this.#isOwn(response.url) ? response : undefined;
    } catch (error) {
      if (this.#session.isAborted) throw error;
      if (error instanceof ScanDelayed) this.#stop('The host was busy with other scans.');
      else if (!(error instanceof FetchError)) throw error;
      else if (error.reason === 'robots_denied') return 'excluded';
      else if (this.#session.isOver) this.#stop('The time of the scan was over.');
      else if (error.isBlock) this.#stop(`A bot defence stopped the scan at ${what}: ${error.message}.`);
      else this.#fail(error, what);
      return undefined;
    }
  }

  #addressOf(path: string): URL | undefined {
    try {
      const url = checkUrl(path, new URL(this.#home.url), 'internal');
      return this.#isOwn(url) ? url : undefined;
    } catch {
      return undefined;
    }
  }

  /** The storefront has one host. A page of another host is not its page. */
  #isOwn(url: URL | null): boolean {
    return url !== null && withoutWww(url.hostname) === withoutWww(new URL(this.#home.url).hostname);
  }

  #fail(error: FetchError, what: string): void {
    this.#failures += 1;
    this.#coverage.note(`${what} could not be read (${error.reason}).`);
    if (this.#failures >= MAX_FAILURES) this.#stopped = true;
  }

  #stop(note: string): void {
    this.#stopped = true;
    this.#coverage.note(note.replaceAll(/\s+/g, ' '));
  }
}

/** Whether a response is a non-empty HTML page. */
export function isPage({ status, contentType, text }: SessionResponse): boolean {
  const isHtml =
    contentType === '' ? /^\s*</.test(text.slice(0, 500)) : /\b(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType);
  return status >= 200 && status < 300 && isHtml && /<[a-z!]/i.test(text) && !isBinary(text.slice(0, SNIFFED_CHARS));
}

/** A body that was compressed twice, or has another charset than declared, is not a page: rules could find nothing in it. */
function isBinary(head: string): boolean {
  return (head.match(BINARY)?.length ?? 0) > head.length / 20;
}

function toPage(pageClass: PageClass, { url, status, headers, cookieNames, text }: SessionResponse): PageEvidence {
  return extractPageEvidence({ html: text, url: url.href, pageClass, status, headers, cookies: cookieNames });
}

function keptHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => KEPT_HEADERS.includes(name)));
}

function known(platform: string | undefined, paths: Readonly<Record<string, string>>): string[] {
  const path = platform === undefined ? undefined : paths[platform];
  return path === undefined ? [] : [path];
}

/** Undefined for text that is not JSON, or is nested so deeply that the parser fails. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
