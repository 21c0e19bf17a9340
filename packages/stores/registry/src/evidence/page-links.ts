import { withoutWww, type PageAddress } from './page-address.ts';
import type { PageEvidence } from './evidence.ts';
import type { EvidenceList } from './evidence-list.ts';

const PRODUCT =
  /\/(?:products?|item|items|p|prod|produkt|produkte|produit|produto|producto|shop\/p|store\/p)\/[^/?]+|\/p$|[-_/]p[-_]?\d{3,}(?:\.html)?$|\/product-page\//i;
const COLLECTION =
  /\/(?:collections?|categor(?:y|ies|ia|ie)|product-category|shop|catalog|kategorie|c|departments?|store)(?:\/|$)/i;
const CART =
  /\/(?:cart|basket|checkout|warenkorb|panier|carrito|carrinho|bag|koszyk|kosik)(?:[/.?]|$)|route=checkout\/cart|controller=cart/i;
const BOUNDS = { product: 20, collection: 20, cart: 5 };
/** Maximum links of a page that are examined, which is enough for a page plan. */
const LINKS_BOUND = 5_000;
const ADDRESS_BOUND = 200;

/** Sorts the links of a page for the page plan. */
export class PageLinks {
  readonly links: PageEvidence['links'] = { product: [], collection: [], cart: [] };
  readonly #seen = new Set<string>();
  readonly #hosts: EvidenceList;

  constructor(hosts: EvidenceList) {
    this.#hosts = hosts;
  }

  add({ host, path }: PageAddress): void {
    if (host !== '') {
      if (!host.startsWith('www.')) this.#hosts.add(withoutWww(host));
      return;
    }
    if (path.length > ADDRESS_BOUND || this.#seen.size >= LINKS_BOUND || this.#seen.has(path)) return;
    this.#seen.add(path);
    const query = path.indexOf('?');
    const plain = query === -1 ? path : path.slice(0, query);
    if (CART.test(path)) this.#add('cart', path);
    else if (PRODUCT.test(plain)) this.#add('product', plain);
    else if (COLLECTION.test(plain)) this.#add('collection', plain);
  }

  #add(name: keyof typeof BOUNDS, path: string): void {
    const paths = this.links[name];
    if (paths.length < BOUNDS[name] && !paths.includes(path)) paths.push(path);
  }
}
