/** A response of a catalogue endpoint. Names of headers are lower-case; `body` is parsed JSON, or the text of any other document. */
export interface CatalogDocument {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface CatalogProduct {
  readonly id: string;
  readonly title: string;
  /** Types, categories and tags as written by the shop. */
  readonly labels: readonly string[];
  /** Price of the cheapest available variant, in major units; null without a positive price. */
  readonly price: number | null;
  /** ISO 4217, if the endpoint states it for each product. */
  readonly currency: string | null;
  /** Whether a variant is in stock; null if the endpoint does not state it. */
  readonly isAvailable: boolean | null;
  /** Path or URL of the product page. */
  readonly address: string | null;
}

/** One page of a catalogue. */
export interface CatalogPage {
  readonly products: readonly CatalogProduct[];
  /** Whether the page has as many products as requested, so that there may be more. */
  readonly isFull: boolean;
  /** The total number of products stated by the endpoint. */
  readonly declaredTotal: number | null;
}

/** The state of a scan at the request of a page. */
export interface CatalogContext {
  /** Paths of collections that the home page links to. */
  readonly collections: readonly string[];
  /** The document of the previous page. */
  readonly previous: CatalogDocument | undefined;
}

/** How the catalogue of a platform is read, page by page, with GET requests alone. Spec: S8.1, S8.10. */
export interface CatalogSource {
  /** Kind of its documents, such as `shopify_products`. */
  readonly kind: string;
  /** Whether a page lists product details. A sitemap lists only addresses. */
  readonly listsProducts: boolean;
  /** Whether its pages form the complete catalogue. If false, they are at best a part, and the count is a lower bound. */
  readonly isWhole: boolean;
  /** Whether prices are in the single currency stated by structured data of the shop's pages. */
  readonly hasCurrencyOnPages?: boolean;
  /** Path and query of a page on the storefront's host. Undefined when there is no such page.
   *  @param page - from 1. */
  request(page: number, context: CatalogContext): string | undefined;
  /** Undefined when the document is not a response of this endpoint, which does not mean that the catalogue is empty. */
  read(document: CatalogDocument): CatalogPage | undefined;
}
