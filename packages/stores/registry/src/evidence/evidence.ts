import * as z from 'zod';

/** The class of a page. The scan decides which pages of a class it reads. */
const PAGE_CLASSES = ['home', 'product', 'collection', 'cart', 'other'] as const;
export type PageClass = (typeof PAGE_CLASSES)[number];

/** Maximum entries of each list of a page. A full list is named in `truncated`. */
export const LIST_BOUNDS = {
  scripts: 300,
  inertScripts: 100,
  assets: 150,
  frames: 40,
  images: 150,
  forms: 30,
  inlineUrls: 250,
  inlineNames: 150,
  inlineIds: 30,
  dataHosts: 60,
  hints: 150,
  cookies: 60,
  elements: 80,
  attributes: 300,
  classes: 500,
  scriptIds: 100,
  appBlocks: 100,
  emptyAppBlocks: 100,
  webPixels: 60,
  hreflang: 60,
  linkHosts: 80,
} as const;

/** Longest text in any field of evidence, in UTF-16 units. */
export const TEXT_BOUND = 200;
export const META_BOUND = 80;
export const HEADER_BOUND = 60;
export const FACT_BOUND = 40;

const text = z.string().max(TEXT_BOUND);
const listOf = (name: keyof typeof LIST_BOUNDS) => z.array(text).max(LIST_BOUNDS[name]);
const record = (bound: number) => z.record(text, text).refine((value) => Object.keys(value).length <= bound);

const jsonLdOrganization = z.strictObject({
  type: text,
  name: text.nullable(),
  /** `@id` or `url`. */
  url: text.nullable(),
  sameAs: z.array(text).max(20),
  addressCountry: text.nullable(),
  telephone: text.nullable(),
  vatId: text.nullable(),
  /** `vatID:`, `leiCode:`, `duns:`, `taxID:` and the number. */
  identifiers: z.array(text).max(10),
});
export type JsonLdOrganization = z.infer<typeof jsonLdOrganization>;

const jsonLdProduct = z.strictObject({
  name: text.nullable(),
  sku: text.nullable(),
  price: text.nullable(),
  highPrice: text.nullable(),
  currency: text.nullable(),
  availability: text.nullable(),
  category: text.nullable(),
});
export type JsonLdProduct = z.infer<typeof jsonLdProduct>;

/** Structured data of a page. `failed` blocks were not JSON or too long. */
const jsonLd = z.strictObject({
  types: z.array(text).max(40),
  organizations: z.array(jsonLdOrganization).max(5),
  products: z.array(jsonLdProduct).max(20),
  shippingOrigins: z.array(text).max(10),
  returnCountries: z.array(text).max(10),
  failed: z.int().min(0),
});
export type JsonLdFacts = z.infer<typeof jsonLd>;

/** The content of one page that rules and the profile use: in practice at most 64 KB of JSON for any page. Addresses are `host/path?query` without
 *  scheme, and `/path?query` on the site itself. Everything is what the page says: nothing here is a detection. */
export const pageEvidence = z.strictObject({
  version: z.literal(1),
  pageClass: z.enum(PAGE_CLASSES),
  /** Where the page was read, after redirects. */
  url: z.string().max(2_048),
  host: text,
  status: z.int(),
  /** The searched literals of inline scripts: those of rules up to this version. */
  literals: z.int(),
  /** Full lists, in which a missing entry proves nothing. */
  truncated: z.array(text).max(40),
  scripts: listOf('scripts'),
  /** Scripts that wait for consent or for code of the page, by their tags or in their code. Scripts in a template are not evidence. */
  inertScripts: listOf('inertScripts'),
  assets: listOf('assets'),
  frames: listOf('frames'),
  /** Host and two segments of the path. */
  images: listOf('images'),
  forms: listOf('forms'),
  /** Addresses that are whole string literals of executable inline scripts. */
  inlineUrls: listOf('inlineUrls'),
  /** Literals of rules in the code of executable inline scripts, outside strings and comments. */
  inlineNames: listOf('inlineNames'),
  /** Ids of tags and containers of Google, such as `GTM-XXXX`. In JSON scripts with the prefix `json:`. */
  inlineIds: listOf('inlineIds'),
  /** Hosts in JSON scripts. */
  dataHosts: listOf('dataHosts'),
  /** Hosts of preconnect, dns-prefetch and the content security policy, and names of hosts alone in code: one weak channel. */
  hints: listOf('hints'),
  headers: record(HEADER_BOUND),
  cookies: listOf('cookies'),
  /** The first of each name; of `generator` all, as lines. */
  metas: record(META_BOUND),
  /** Custom elements, names of data attributes (`pi-...` are payment icons), and first parts of classes (`jdgm` of `jdgm-widget`). */
  elements: listOf('elements'),
  attributes: listOf('attributes'),
  classes: listOf('classes'),
  /** Ids of scripts and of metas without a name, and `type:` with types that are neither JavaScript nor JSON. */
  scriptIds: listOf('scriptIds'),
  /** Handles of Shopify app blocks that load something, and of empty ones. */
  appBlocks: listOf('appBlocks'),
  emptyAppBlocks: listOf('emptyAppBlocks'),
  /** `client:<id of the app>` and `<setting>:<value>` of Shopify web pixels; `Facebook Pixel` and the like of the
   *  analytics before them; `setting:<name>` of payments that Squarespace says are connected. */
  webPixels: listOf('webPixels'),
  /** Settings in inline scripts of platforms, such as `shopify.theme.schema_name`. */
  facts: record(FACT_BOUND),
  jsonLd,
  lang: text.nullable(),
  title: text.nullable(),
  canonical: text.nullable(),
  /** `language address`. */
  hreflang: listOf('hreflang'),
  /** Links within the site, for the page plan, in page order. */
  links: z.strictObject({
    product: z.array(text).max(20),
    collection: z.array(text).max(20),
    cart: z.array(text).max(5),
  }),
  /** Other linked hosts, without `www.`, which may be vendor pages for this store. */
  linkHosts: listOf('linkHosts'),
});
export type PageEvidence = z.infer<typeof pageEvidence>;

/** Maximum pages and document facts of one scan. */
export const PAGE_BOUND = 12;

/** The data read by a scan, stored so that later rules can be applied to it. Spec: S9.10. */
export const storeEvidence = z.strictObject({
  version: z.literal(1),
  pages: z.array(pageEvidence).max(PAGE_BOUND),
  /** Documents that were read, such as `/meta.json`, and their facts that identify platforms: `shopify.myshopify_domain`. */
  endpoints: record(FACT_BOUND),
});
export type StoreEvidence = z.infer<typeof storeEvidence>;
