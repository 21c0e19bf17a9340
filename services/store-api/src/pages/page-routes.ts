import type { Queryable } from '@vitrine/postgres/connection';
import { findTechnology } from '@vitrine/registry/vocabulary';
import { canonicalDomain } from '@vitrine/stores/canonical-domain';
import type { PublicUrls } from '@vitrine/stores/profile/render-profile';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from '../contract/operation.ts';
import type { PlainExchange, PlainRoute } from '../http/plain-route.ts';
import { sendResponse } from '../http/send-response.ts';
import { docsPage, keysPage, loginPage, notFoundPage, storePage, technologyPage, type StoreSummary } from './pages.ts';

/** Maximum concurrent reads of pages. They are unmetered and share connections with billed requests. */
const MAX_READS = 4;
const BUSY = 'Too many pages are being read; try again in a second.';
/** A former domain resolves to the moved storefront. */
const READ = `SELECT s.domain, s.name, s.platform, s.state, s.last_completed_scan_at
  FROM stores a JOIN stores s ON s.storefront_id = coalesce(a.moved_to, a.storefront_id) WHERE a.domain = $1 AND s.profile IS NOT NULL
  AND NOT EXISTS (SELECT FROM domain_denylist d WHERE d.domain IN (a.domain, s.domain))`;

interface Page {
  readonly status: 200 | 404 | 503;
  readonly html: string;
}

/** Plain pages for every URL in responses, until the console serves them. */
export function pageRoutes(database: Queryable, served: readonly Operation[], urls: PublicUrls): PlainRoute[] {
  const [keys, login, docs] = [found(keysPage()), found(loginPage()), found(docsPage(served, urls))];
  let reads = 0;
  const readStore = async (input: string | undefined): Promise<Page> => {
    const domain = input === undefined ? undefined : canonicalDomain(input);
    if (domain === undefined) return missing('store');
    if (reads >= MAX_READS) return { status: 503, html: BUSY };
    reads += 1;
    try {
      const [store] = await database.query<StoreSummary>(READ, [domain], { name: 'read_store_page' });
      return store === undefined ? missing('store') : found(storePage(store, findTechnology(store.platform ?? ''), urls));
    } finally {
      reads -= 1;
    }
  };
  const readTechnology = async (slug: string | undefined): Promise<Page> => {
    const technology = findTechnology(slug ?? '');
    return technology === undefined ? missing('technology') : found(technologyPage(technology));
  };
  return [
    route('/stores/{domain}', 'storePage', ({ params }) => readStore(params['domain'])),
    route('/technologies/{slug}', 'technologyPage', ({ params }) => readTechnology(params['slug'])),
    route('/settings/api-keys', 'keysPage', async () => keys),
    route('/login', 'loginPage', async () => login),
    route('/docs', 'docsPage', async () => docs),
  ];
}

function route(path: string, operationId: string, read: (exchange: PlainExchange) => Promise<Page>): PlainRoute {
  return {
    methods: ['GET', 'HEAD'],
    path,
    operationId,
    counted: [{ operationId, outcomes: [200, 404, 503].map((status) => ({ status, code: '' })) }],
    handle: async (request, response, exchange) => sendPage(request, response, exchange.requestId, await read(exchange)),
  };
}

function sendPage(request: IncomingMessage, response: ServerResponse, requestId: string, { status, html }: Page): Promise<void> {
  const headers = [
    'X-Request-Id',
    requestId,
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    'no-referrer',
    ...(status === 503 ? ['Retry-After', '1'] : []),
  ];
  return sendResponse(request, response, { status, headers, body: html, type: 'text/html; charset=utf-8' });
}

function found(html: string): Page {
  return { status: 200, html };
}

function missing(what: string): Page {
  return { status: 404, html: notFoundPage(what) };
}
