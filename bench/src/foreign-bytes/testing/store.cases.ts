import { catalogSourceOfKind } from '@vitrine/enrich-scan-queue/catalog/catalog-sources';
import { distinctProducts, productPaths, subjectOf } from '@vitrine/enrich-scan-queue/catalog/product-addresses';
import { shopSettings } from '@vitrine/enrich-scan-queue/catalog/shop-settings';
import { sitemapLocations } from '@vitrine/enrich-scan-queue/catalog/sources/sitemap-products';
import { structuredProducts } from '@vitrine/enrich-scan-queue/catalog/take-census';
import { retryAfterOf } from '@vitrine/enrich-scan-queue/fetch/fetch-session';
import { checkRedirect } from '@vitrine/enrich-scan-queue/fetch/network/check-url';
import { platformHint } from '@vitrine/enrich-scan-queue/fetch/plan/platform-hint';
import { platformLinks } from '@vitrine/enrich-scan-queue/fetch/plan/platform-links';
import { decodeText } from '@vitrine/enrich-scan-queue/fetch/reading/decode-text';
import { parseRobots } from '@vitrine/enrich-scan-queue/fetch/reading/parse-robots';
import { recognizeChallenge } from '@vitrine/enrich-scan-queue/fetch/reading/recognize-challenge';
import { storefrontCondition } from '@vitrine/enrich-scan-queue/fetch/reading/storefront-condition';
import { findGeography } from '@vitrine/enrich-scan-queue/geography/find-geography';
import { findIndustry } from '@vitrine/enrich-scan-queue/industry/find-industry';
import { decodeScanRequest } from '@vitrine/enrich-scan-queue/jobs/request-handler';
import { describeStorefront } from '@vitrine/enrich-scan-queue/observation/describe-storefront';
import { readBody as readFetchedBody } from '@vitrine/enrich-scan-queue/fetch/network/read-body';
import { detect } from '@vitrine/registry/detection/detect';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import { registrableDomain } from '@vitrine/registry/registrable-domain';
import { KeyGate } from '@vitrine/store-api/admission/key-gate';
import { executeGraphql } from '@vitrine/store-api/graphql/execute-graphql';
import { createSchema } from '@vitrine/store-api/graphql/graphql-route';
import { requestIdOf } from '@vitrine/store-api/http/envelope-rejections';
import { requestTarget, decodedParams, routedUrl } from '@vitrine/store-api/http/create-api-app';
import { parseSearch, queryParameters, readQuery } from '@vitrine/http-api/requests/query-shapes';
import { readBody } from '@vitrine/store-api/http/read-request';
import { isNotModified } from '@vitrine/store-api/stores/get-store';
import { canonicalDomain } from '@vitrine/stores/canonical-domain';
import { parseCorpusLine } from '@vitrine/stores/corpus/import-corpus';
import { storable } from '@vitrine/stores/storable-text';
import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { bytesOf, chunksOf, ignoringFaults, plain, type ForeignBytesCase, type Form } from './foreign-bytes-case.ts';

const URL_OF_SHOP = 'https://shop.test/';
const PLATFORMS = ['magento', 'prestashop', 'opencart', 'shopware', 'vtex', 'nuvemshop', 'odoo', 'ecwid', 'shopify'];
const KINDS = [
  'shopify_products',
  'woocommerce_products',
  'magento_products',
  'vtex_products',
  'squarespace_products',
  'product_sitemap',
];
const schema = createSchema();
const query = z.object({ cursor: queryParameters('value').text(1, 100) });

const inScript: Form = (text) => `<script>${text}</script>`;
const inString: Form = (text) => `<script>a = "${text}"; b = '${text}';</script>`;
const inJsonLd: Form = (text) =>
  `<script type="application/ld+json">${JSON.stringify({ '@type': 'Product', name: text, sku: text })}</script>`;
const inAttribute: Form = (text) =>
  `<a href="${text}"><script src="https://shop.test/${text}"></script><div class="${text}" ${text}>`;
const inLinks: Form = (text) => text.replaceAll(/[^]{1,64}/g, (part) => `<a href="/${part}"><img src="//x.test/${part}">`);
const inMetas: Form = (text) => text.replaceAll(/[^]{1,64}/g, (part) => `<meta name="generator" content="${part}">`);
const inLocations: Form = (text) => text.replaceAll(/[^]{1,64}/g, (part) => `<loc>https://shop.test/${part}</loc>`);
const inProducts: Form = (text) =>
  JSON.stringify({
    products: (text.match(/[^]{1,64}/g) ?? []).map((part) => ({
      id: part,
      title: part,
      handle: part,
      variants: [{ price: part }],
    })),
  });

const pageOf = (html: string) =>
  extractPageEvidence({ html, url: URL_OF_SHOP, pageClass: 'home', headers: { server: html.slice(0, 1_000) } });
const linesOf = (text: string) => text.match(/[^]{1,64}/g) ?? [];
const examined = (text: string) => ({ url: URL_OF_SHOP, status: 403, headers: { server: text }, text });

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The scan of a shop whose pages and documents consist of the text. */
const captureOf = (text: string) => ({
  domain: 'shop.test',
  storefrontHost: 'shop.test',
  startedAt: 1,
  completedAt: 2,
  scope: 'full' as const,
  coverageNote: text,
  storefrontCondition: 'open' as const,
  pages: [pageOf(text)],
  documents: ['shopify_meta', 'shopify_products'].map((kind) => ({
    kind,
    url: URL_OF_SHOP,
    status: 200,
    headers: { server: text },
    body: jsonOf(text),
  })),
  redirects: [],
});
const bodyShape = z.strictObject({ domains: z.array(z.string().max(253)).max(100) });
/** Refuses every key. */
const refusing = { enter: () => Promise.resolve({ admission: { outcome: 'unknown_key' }, leave: () => {} }) };

function requestOf(text: string, headers: IncomingMessage['headers'] = {}): IncomingMessage {
  const body = Readable.from(chunksOf(text));
  return Object.assign(body, { headers, headersDistinct: { authorization: [text] } }) as never;
}

const pageForms = [plain, inScript, inString, inJsonLd, inAttribute, inLinks, inMetas];

export const storeCases: readonly ForeignBytesCase[] = [
  { of: 'packages/stores/registry/src/evidence/extract-page-evidence.ts#extractPageEvidence', run: pageOf, forms: pageForms },
  {
    of: 'packages/stores/registry/src/detection/detect.ts#detect',
    run: (text) => detect({ version: 1, pages: [pageOf(text)], endpoints: {} }),
    forms: pageForms,
  },
  { of: 'packages/stores/registry/src/registrable-domain.ts#registrableDomain', run: registrableDomain },
  { of: 'packages/stores/model/src/canonical-domain.ts#canonicalDomain', run: canonicalDomain },
  { of: 'packages/stores/model/src/storable-text.ts#storable', run: (text) => storable({ [text]: [text] }) },
  {
    of: 'packages/stores/model/src/corpus/import-corpus.ts#parseCorpusLine',
    run: (text) => parseCorpusLine({ number: 1, text }),
  },
  {
    of: 'services/enrich-scan-queue/src/fetch/reading/decode-text.ts#decodeText',
    run: (text) => decodeText(bytesOf(text), `text/html; ${text}`),
    forms: [plain, inMetas, (text) => `\xe9${text}`, (text) => `charset=${text}`],
  },
  {
    of: 'services/enrich-scan-queue/src/fetch/reading/parse-robots.ts#parseRobots',
    run: (text) => parseRobots(text, 'VitrineBot').isAllowed(`/${text.slice(0, 2_048)}`),
    forms: [
      plain,
      (text) => `User-agent: *\n${text.replaceAll(/[^]{1,32}/g, (part) => `Disallow: /${part.replaceAll(/[\r\n]/g, '')}\n`)}`,
      (text) => `User-agent: ${text}\nDisallow: /${text}`,
    ],
  },
  {
    of: 'services/enrich-scan-queue/src/fetch/reading/recognize-challenge.ts#recognizeChallenge',
    run: (text) => recognizeChallenge(examined(text)),
  },
  {
    of: 'services/enrich-scan-queue/src/fetch/reading/storefront-condition.ts#storefrontCondition',
    run: (text) => storefrontCondition(examined(text)),
  },
  {
    of: 'services/enrich-scan-queue/src/fetch/plan/platform-links.ts#platformLinks',
    run: (text) => PLATFORMS.map((platform) => platformLinks(text, platform)),
    forms: [plain, inAttribute, inLinks],
  },
  {
    of: 'services/enrich-scan-queue/src/fetch/plan/platform-hint.ts#platformHint',
    run: (text) => platformHint({ headers: { server: text }, cookieNames: linesOf(text), text }),
  },
  {
    of: 'services/enrich-scan-queue/src/fetch/network/check-url.ts#checkRedirect',
    run: (text) => ignoringFaults(() => checkRedirect(text, new URL(URL_OF_SHOP))),
  },
  { of: 'services/enrich-scan-queue/src/fetch/fetch-session.ts#retryAfterOf', run: (text) => retryAfterOf(text) },
  {
    of: 'services/enrich-scan-queue/src/catalog/sources/sitemap-products.ts#sitemapLocations',
    run: sitemapLocations,
    forms: [plain, inLocations],
  },
  { of: 'services/enrich-scan-queue/src/catalog/product-addresses.ts#subjectOf', run: subjectOf },
  {
    of: 'services/enrich-scan-queue/src/catalog/product-addresses.ts#productPaths',
    run: (text) =>
      PLATFORMS.map((platform) => productPaths([...linesOf(text), `${URL_OF_SHOP}${text}`], 'shop.test', platform, 'products')),
  },
  {
    of: 'services/enrich-scan-queue/src/catalog/product-addresses.ts#distinctProducts',
    run: (text) => PLATFORMS.map((platform) => distinctProducts([...linesOf(text), text], platform)),
  },
  {
    of: 'services/enrich-scan-queue/src/catalog/catalog-sources.ts#catalogSourceOfKind',
    run: (text) =>
      KINDS.map((kind) => catalogSourceOfKind(kind)?.read({ url: URL_OF_SHOP, status: 200, headers: {}, body: jsonOf(text) })),
    forms: [plain, inProducts, inLocations],
  },
  {
    of: 'services/enrich-scan-queue/src/catalog/shop-settings.ts#shopSettings',
    run: (text) =>
      shopSettings(
        ['shopify_meta', 'woocommerce_settings'].map((kind) => ({
          kind,
          url: URL_OF_SHOP,
          status: 200,
          headers: {},
          body: jsonOf(text),
        })),
      ),
    forms: [plain, (text) => JSON.stringify({ name: text, currency: text, country: text, myshopify_domain: text })],
  },
  {
    of: 'services/enrich-scan-queue/src/catalog/take-census.ts#structuredProducts',
    run: (text) => structuredProducts([pageOf(text)]),
    forms: [inJsonLd],
  },
  {
    of: 'services/enrich-scan-queue/src/industry/find-industry.ts#findIndustry',
    run: (text) => findIndustry(linesOf(text), [{ title: text, labels: linesOf(text) }]),
  },
  {
    of: 'services/enrich-scan-queue/src/geography/find-geography.ts#findGeography',
    run: (text) =>
      findGeography({
        domain: text,
        settingsCountry: text,
        addressCountries: linesOf(text),
        currency: text,
        languages: [text],
        phones: [text, `+49${text}`],
        vatIds: [text, `DE${text}`],
      }),
  },
  {
    of: 'services/enrich-scan-queue/src/observation/describe-storefront.ts#describeStorefront',
    run: (text) => describeStorefront(captureOf(text), detect),
    forms: [...pageForms, inProducts],
  },
  {
    of: 'services/enrich-scan-queue/src/fetch/network/read-body.ts#readBody',
    run: (text) =>
      readFetchedBody(Readable.from(chunksOf(text)), text, { maxBytes: text.length }).catch(() => {
        // More than one encoding is refused.
      }),
    forms: [plain, (text) => text.replaceAll(/[^]{1,8}/g, 'identity,')],
  },
  {
    of: 'services/enrich-scan-queue/src/jobs/request-handler.ts#decodeScanRequest',
    run: (text) => decodeScanRequest(bytesOf(text)),
  },
  {
    of: 'services/store-api/src/graphql/execute-graphql.ts#executeGraphql',
    run: (text) =>
      executeGraphql({ schema, ports: {} as never, introspection: false }, { query: text }, new AbortController().signal),
    forms: [plain, (text) => `query { ${text} }`, (text) => `query { a(b: ${JSON.stringify(text)}) }`],
  },
  {
    of: 'services/store-api/src/http/create-api-app.ts#requestTarget',
    run: requestTarget,
    forms: [plain, (text) => `https://${text}`],
  },
  { of: 'services/store-api/src/http/create-api-app.ts#routedUrl', run: (text) => routedUrl(`/${text}`) },
  { of: 'services/store-api/src/http/create-api-app.ts#decodedParams', run: (text) => decodedParams({ domain: text }) },
  { of: 'services/store-api/src/http/envelope-rejections.ts#requestIdOf', run: (text) => requestIdOf({ 'x-request-id': text }) },
  {
    of: 'packages/platform/http-api/src/requests/query-shapes.ts#parseSearch',
    run: parseSearch,
    forms: [plain, (text) => `cursor=${text}`],
  },
  {
    of: 'packages/platform/http-api/src/requests/query-shapes.ts#readQuery',
    run: (text) => ignoringFaults(() => readQuery(query, parseSearch(text))),
    forms: [plain, (text) => `cursor=${text}`, (text) => text.replaceAll(/[^]{1,4}/g, 'a=b&')],
  },
  {
    of: 'services/store-api/src/http/read-request.ts#readBody',
    run: (text) =>
      Promise.allSettled([
        readBody(bodyShape, requestOf(text)),
        readBody(bodyShape, requestOf('{}', { 'content-type': `application/json${text}` })),
      ]),
    forms: [
      plain,
      (text) => JSON.stringify({ domains: linesOf(text) }),
      (text) => JSON.stringify(Object.fromEntries(linesOf(text).map((line, i) => [`${i}${line}`, line]))),
    ],
  },
  {
    of: 'services/store-api/src/admission/key-gate.ts#KeyGate',
    run: (text) => new KeyGate(refusing as never, () => false).enter(requestOf(text), undefined),
    forms: [plain, (text) => `Bearer ${text}`, (text) => `Bearer svc_live_${text}`],
  },
  { of: 'services/store-api/src/stores/get-store.ts#isNotModified', run: (text) => isNotModified(text, '"a"') },
];
