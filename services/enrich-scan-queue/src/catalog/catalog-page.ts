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
  /** Types, categories and tags as the shop writes them. */
  readonly labels: readonly string[];
  /** Of the variant that can be bought for the least, in major units; null without a positive price. */
  readonly price: number | null;
  /** ISO 4217, where the endpoint states it for each product. */
  readonly currency: string | null;
  /** Whether a variant can be bought; null where the endpoint does not say. */
  readonly isAvailable: boolean | null;
  /** Of its page: a path or a URL. */
  readonly address: string | null;
}

/** One page of a catalogue. */
export interface CatalogPage {
  readonly products: readonly CatalogProduct[];
  /** As many products as were requested, so that there may be more. */
  readonly isFull: boolean;
  /** The number of products that the endpoint says it has. */
  readonly declaredTotal: number | null;
}

/** State of a scan when it requests a page. */
export interface CatalogContext {
  /** Paths of collections that the home page links to. */
  readonly collections: readonly string[];
  /** The document of the page before. */
  readonly previous: CatalogDocument | undefined;
}

/** How the catalogue of a platform is read, page by page, with GET requests alone. Spec: S8.1, S8.10. */
export interface CatalogSource {
  /** Of its documents, such as `shopify_products`. */
  readonly kind: string;
  /** Whether a page lists products with their facts. A sitemap lists addresses only. */
  readonly listsProducts: boolean;
  /** Whether its pages together are the catalogue; false where they are a part at best, and their number a lower bound. */
  readonly isWhole: boolean;
  /** Its prices are in the one currency that structured data of the shop's pages states. */
  readonly hasCurrencyOnPages?: boolean;
  /** Path and query of a page on the storefront's host. Undefined when there is no such page.
   *  @param page - from 1. */
  request(page: number, context: CatalogContext): string | undefined;
  /** Undefined when the document is not a response of this endpoint. That is not evidence of an empty catalogue. */
  read(document: CatalogDocument): CatalogPage | undefined;
}
