import { messageOf } from '@vitrine/faults/fault';
import { registrableDomain } from '@vitrine/registry/registrable-domain';
import type { ScanAttempt, ScanCapture, ScanStorefront } from '../scan/scan-ports.ts';
import { FetchSession, retryAfterOf, ScanDelayed, type SessionResponse } from './fetch-session.ts';
import type { FetchSettings } from './fetch-settings.ts';
import { FetchError, toFetchError } from './network/fetch-error.ts';
import { HTML_ACCEPT, isPage, StorefrontReader } from './read-storefront.ts';
import { storefrontCondition } from './reading/storefront-condition.ts';
import { RobotsCache } from './robots-cache.ts';

const MAX_DETAIL_LENGTH = 300;

interface ScanStorefrontOptions {
  readonly settings: FetchSettings;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Reads storefronts: the home page, then the planned pages. A failure of the home page makes the scan a failed attempt. A failure of other pages
 *  gives a smaller scope with a note. Spec: S8.1 to S8.3. */
export function createScanStorefront({ settings, now }: ScanStorefrontOptions): ScanStorefront {
  const robotsCache = new RobotsCache(now);
  return async (domain, context) => {
    const startedAt = now();
    try {
      await using session = new FetchSession(settings, robotsCache, context);
      const home = await findHome(domain, session, settings);
      const capture = await captureStorefront(domain, home, session, settings);
      return { ...capture, domain, startedAt, completedAt: now() };
    } catch (error) {
      return toAttempt(error);
    }
  };
}

/** The home page of a domain: over https, then with www, then over http if nothing listens on the https port. An invalid certificate is never
 *  bypassed with http. If none can be reached, the first failure is reported. */
async function findHome(domain: string, session: FetchSession, settings: FetchSettings): Promise<SessionResponse> {
  let first: FetchError | undefined;
  for (const address of [`https://${domain}/`, `https://www.${domain}/`, `http://${domain}/`]) {
    if (address.startsWith('http:') && first?.reason !== 'connect') continue;
    try {
      return await session.get(new URL(address), { accept: HTML_ACCEPT, limit: { maxBytes: settings.limits.maxHtmlBytes } });
    } catch (error) {
      if (error instanceof ScanDelayed) throw error;
      const failed = toFetchError(error);
      first ??= failed;
      if (session.isOver || !['dns', 'connect', 'tls'].includes(failed.reason)) throw failed;
    }
  }
  throw first ?? new FetchError('internal', 'no address was tried');
}

type Captured = Omit<ScanCapture, 'domain' | 'startedAt' | 'completedAt'>;

async function captureStorefront(
  domain: string,
  home: SessionResponse,
  session: FetchSession,
  settings: FetchSettings,
): Promise<Captured> {
  const { url, status, redirects } = home;
  const storefrontHost = url.hostname;
  const { condition, note } = storefrontCondition({ url: url.href, status, headers: home.headers, text: home.text });
  const notOpen = { storefrontHost, scope: 'homepage_only', pages: [], documents: [], redirects } as const;
  if (condition !== 'open') return { ...notOpen, storefrontCondition: condition, coverageNote: note };
  if (registrableDomain(storefrontHost) !== registrableDomain(domain)) {
    const coverageNote = `The domain redirects to ${storefrontHost}, which was not read.`;
    return { ...notOpen, storefrontCondition: 'redirected', coverageNote };
  }
  refuseNoPage(home);
  const { coverage, ...reading } = await new StorefrontReader(session, settings.limits, home).read();
  return {
    storefrontHost,
    storefrontCondition: 'open',
    scope: coverage.scope,
    coverageNote: coverage.text,
    pages: reading.pages,
    documents: reading.documents,
    redirects: [...redirects, ...reading.redirects],
  };
}

/** Throws for a home page that is not an HTML page: it is no evidence about a store. */
function refuseNoPage(home: SessionResponse): void {
  const { status, headers, url, contentType } = home;
  const retryAfterMs = retryAfterOf(headers['retry-after']);
  if (status === 503 && retryAfterMs !== undefined)
    throw new FetchError('throttled', `${url.host} answered 503 with Retry-After`, { retryAfterMs });
  if (status === 403 || status === 405 || status === 451)
    throw new FetchError('http_error', `${url.host} answered ${status}`, { isBlock: true });
  if (status < 200 || status >= 300) throw new FetchError('http_error', `${url.host} answered ${status}`, { retryAfterMs });
  if (!isPage(home))
    throw new FetchError(
      'not_html',
      `${url.host} answered ${contentType.slice(0, 80) || 'no type'} or nothing instead of a page`,
    );
}

function toAttempt(error: unknown): ScanAttempt {
  if (error instanceof ScanDelayed) return { outcome: 'delayed', retryAfterMs: error.retryAfterMs };
  const { reason, isBlock, retryAfterMs, message } = toFetchError(error);
  return {
    outcome: isBlock ? 'blocked' : 'failed',
    reason,
    detail: message.replaceAll(/\s+/g, ' ').slice(0, MAX_DETAIL_LENGTH) || messageOf(error),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
