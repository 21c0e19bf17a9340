import type { PageEvidence, StoreEvidence, JsonLdOrganization } from '@vitrine/registry/evidence/evidence';
import { findTechnology } from '@vitrine/registry/vocabulary';
import { canonicalDomain } from '@vitrine/stores/canonical-domain';
import type { Detections, ObservationFacts } from '@vitrine/stores/observation/observation-facts';
import { storable } from '@vitrine/stores/storable-text';
import type { CatalogProduct, CatalogSource } from '../catalog/catalog-page.ts';
import { catalogSourceOfKind } from '../catalog/catalog-sources.ts';
import { currencyOf, textOf } from '../catalog/json-catalog.ts';
import { shopSettings, type StatedSettings } from '../catalog/shop-settings.ts';
import { oneCurrency, structuredProducts, takeCensus, type CatalogRead } from '../catalog/take-census.ts';
import { findGeography } from '../geography/find-geography.ts';
import { findIndustry } from '../industry/find-industry.ts';
import type { FetchedDocument, Redirect, ScanCapture } from '../scan/scan-ports.ts';

/** Applies rules to the evidence of a scan. */
type Detect = (evidence: StoreEvidence) => Detections;

interface DescribedStorefront {
  readonly facts: ObservationFacts;
  /** Stored for replays under other rules. */
  readonly evidence: StoreEvidence;
}

/** The facts of a completed scan, with texts that the database can store. Pure. A page that is not open is an observation of its status alone.
 *  Spec: S8.15. */
export function describeStorefront(capture: ScanCapture, detect: Detect): DescribedStorefront {
  return storable(describe(capture, detect));
}

function describe(capture: ScanCapture, detect: Detect): DescribedStorefront {
  const { domain, storefrontHost, scope, coverageNote, pages, documents } = capture;
  const permanent_redirect = permanentRedirect(domain, capture.redirects);
  // The pages read belong to the other domain.
  const condition = permanent_redirect === null ? capture.storefrontCondition : 'redirected';
  const evidence: StoreEvidence = { version: 1, pages: [...pages], endpoints: endpointFacts(documents) };
  const detections = detect(evidence);
  const showsPlatform = detections.technologies.some(isSurePlatform);
  const base = {
    version: 1,
    domain,
    storefront_host: storefrontHost,
    condition,
    scope,
    coverage_note: coverageNote,
    permanent_redirect,
  } as const;
  const isOwn = condition !== 'redirected';
  if (condition !== 'open') return { facts: { ...base, ...STATUS_ALONE, shows_commerce: isOwn && showsPlatform }, evidence };

  const settings = settingsOf(pages, documents);
  const structured = structuredProducts(pages);
  const catalog = readCatalog(documents, settings, structured);
  const organizations = ownOrganizations(pages, domain);
  // Addresses alone count only when the platform is certain, because other sites also have sitemaps of products.
  const isShops = catalog !== null && (catalog.source.listsProducts || showsPlatform);
  const showsProducts = (isShops && catalog.census.product_count > 0) || pages.some(showsProduct);
  const facts: ObservationFacts = {
    ...base,
    name: nameOf(settings, pages),
    shows_commerce: showsPlatform || showsProducts || pages.some(({ pageClass }) => pageClass === 'cart'),
    shows_products: showsProducts,
    ...detections,
    geography: findGeography({
      domain,
      settingsCountry: settings.country,
      addressCountries: addressCountries(pages, organizations),
      currency: settings.currency,
      languages: pages.flatMap(({ lang, metas }) => present(lang, metas['og:locale'])),
      phones: organizations.flatMap(({ telephone }) => present(telephone)),
      vatIds: organizations.flatMap(({ vatId }) => present(vatId)),
    }),
    industry: findIndustry(
      organizations.map(({ type }) => type),
      catalog?.source.listsProducts === true ? catalog.products : structured,
    ),
    catalog: catalog?.census ?? null,
    platform_shop_id: settings.shopId,
    organization: declaredOrganization(organizations),
    hreflang_domains: hreflangDomains(
      pages.find(({ pageClass }) => pageClass === 'home'),
      domain,
    ),
  };
  return { facts, evidence };
}

const STATUS_ALONE = {
  name: null,
  shows_products: false,
  pages: {},
  technologies: [],
  withheld: [],
  geography: { country: null, basis: null },
  industry: { slug: null, basis: null },
  catalog: null,
  platform_shop_id: null,
  organization: null,
  hreflang_domains: [],
} satisfies Partial<ObservationFacts>;

const isSurePlatform = ({ slug, confidence }: Detections['technologies'][number]) =>
  confidence !== 'low' && findTechnology(slug)?.kind === 'platform';

/** A product with a price in structured data, on a page of any class. */
const showsProduct = ({ jsonLd, metas }: PageEvidence) =>
  jsonLd.products.some(({ price }) => price !== null) ||
  metas['product:price:amount'] !== undefined ||
  metas['og:price:amount'] !== undefined;

const present = (...values: readonly (string | null | undefined)[]) =>
  values.filter((value) => typeof value === 'string' && value !== '') as string[];

/** Endpoints that answered, and the platform facts in their responses. */
function endpointFacts(documents: readonly FetchedDocument[]): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const { kind, status, body } of documents) {
    const isJson = typeof body === 'object' && catalogSourceOfKind(kind)?.listsProducts !== false;
    if (status === 200 && isJson) facts[kind] = 'json';
  }
  const { shopId } = shopSettings(documents);
  if (shopId !== null) facts['shopify.myshopify_domain'] = shopId.id;
  return facts;
}

/** Settings from endpoints first, then from inline scripts of the platform. None depends on the visitor. */
function settingsOf(pages: readonly PageEvidence[], documents: readonly FetchedDocument[]): StatedSettings {
  const settings = shopSettings(documents);
  const fact = (name: string) => pages.map(({ facts }) => facts[name]).find((value) => value !== undefined) ?? null;
  return {
    ...settings,
    name: settings.name ?? textOf(fact('shopify.name')),
    country: settings.country ?? fact('shopify.country_code'),
    currency: settings.currency ?? currencyOf(fact('shopify.currency')),
  };
}

type Catalog = CatalogRead & { readonly source: CatalogSource };

/** Reads the first source with a readable page. The endpoint of a platform comes before sitemaps. */
function readCatalog(
  documents: readonly FetchedDocument[],
  settings: StatedSettings,
  structured: readonly CatalogProduct[],
): Catalog | null {
  for (const kind of new Set(documents.map((document) => document.kind))) {
    const source = catalogSourceOfKind(kind);
    if (source === undefined) continue;
    const currency = settings.currency ?? (source.hasCurrencyOnPages === true ? oneCurrency(structured) : null);
    const own = documents.filter((document) => document.kind === kind);
    const read = takeCensus(source, own, { ...settings, currency }, structured);
    if (read !== null) return { ...read, source };
  }
  return null;
}

function nameOf({ name }: StatedSettings, pages: readonly PageEvidence[]): string | null {
  const site = pages.map(({ metas }) => metas['og:site_name']?.trim()).find((value) => value !== undefined && value !== '');
  return name ?? site ?? null;
}

function addressCountries(
  pages: readonly PageEvidence[],
  organizations: readonly { readonly addressCountry: string | null }[],
): string[] {
  const offers = pages.flatMap(({ jsonLd }) => [...jsonLd.shippingOrigins, ...jsonLd.returnCountries]);
  return [...offers, ...organizations.flatMap(({ addressCountry }) => present(addressCountry))];
}

/** The target of redirects that are all permanent, if it is another domain. */
function permanentRedirect(domain: string, redirects: readonly Redirect[]): string | null {
  const last = redirects.at(-1);
  if (last === undefined || redirects.some(({ status }) => status !== 301 && status !== 308)) return null;
  const target = canonicalDomain(last.to);
  return target === undefined || target === domain ? null : target;
}

/** Of `Organization.identifiers`. */
const MAX_IDENTIFIER = 200;

/** Organisations that structured data of the store describes as itself: those that name no site, or the store's own. */
function ownOrganizations(pages: readonly PageEvidence[], domain: string): JsonLdOrganization[] {
  const isOwn = ({ url }: JsonLdOrganization) => url === null || url.startsWith('/') || canonicalDomain(url) === domain;
  return pages.flatMap(({ jsonLd }) => jsonLd.organizations).filter(isOwn);
}

/** The organisation behind the store, for brand groups: one with a number of a register, else the first with a name. */
function declaredOrganization(organizations: readonly JsonLdOrganization[]): ObservationFacts['organization'] {
  const chosen = organizations.find(({ vatId }) => vatId !== null) ?? organizations.find(({ name }) => name !== null);
  if (chosen === undefined) return null;
  const { name, url, vatId } = chosen;
  return { name: name || null, url: url || null, identifiers: vatId ? [`vatID:${vatId}`.slice(0, MAX_IDENTIFIER)] : [] };
}

/** Domains of other storefronts that the home page names as versions of itself. */
function hreflangDomains(home: PageEvidence | undefined, domain: string): string[] {
  const addresses = (home?.hreflang ?? [])
    .map((entry) => entry.slice(entry.indexOf(' ') + 1))
    .filter((address) => !address.startsWith('/'));
  const domains = new Set(addresses.map(canonicalDomain).filter((one) => one !== undefined));
  domains.delete(domain);
  return [...domains].slice(0, 100);
}
