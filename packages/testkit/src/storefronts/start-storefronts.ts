import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { respondInsteadOfPage, type FixtureResponse } from './closed-storefront.ts';
import { findPlatform } from './platforms/find-platform.ts';
import { renderNotFound, renderPath } from './render-page.ts';
import type { Storefront, StorefrontOptions } from './storefront.ts';
import { createTestCertificate } from './test-certificate.ts';

const MAX_RECEIVED = 10_000;
const MAX_REQUEST_BYTES = 64 * 1024;
/** Longer than any pause in a test. */
const KEEP_ALIVE_TIMEOUT_MS = 60_000;
const DEFAULT_ROBOTS = 'User-agent: *\nDisallow: /checkout\nDisallow: /admin\n';

interface StorefrontRequest {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Fixture storefronts on one loopback server for http and one for https, selected by name. */
export interface Storefronts extends AsyncDisposable {
  readonly address: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** The authority that signed the certificates of all storefronts, PEM. */
  readonly ca: string;
  /** The names of all storefronts with the address and ports that serve them: the allow-list of a scanner under test. */
  readonly loopbackHosts: Readonly<
    Record<string, { readonly address: string; readonly http_port: number; readonly https_port: number }>
  >;
  /** The newest requests at most, oldest first. */
  readonly received: readonly StorefrontRequest[];
  /** Number of accepted connections, with any content. */
  readonly connections: number;
  /** Adds a storefront, or replaces the one of that name. */
  add(storefront: StorefrontOptions): void;
  /** Changes a storefront from now on. On another platform it has the same products and vendors, but other markup, paths and endpoints. */
  change(host: string, changes: Partial<Omit<StorefrontOptions, 'host'>>): void;
  storefront(host: string): Storefront;
}

/** Starts servers for these storefronts. An unknown name is 421, over TLS no handshake. */
export async function startStorefronts(initial: readonly StorefrontOptions[], address = '127.0.0.1'): Promise<Storefronts> {
  const shops = new Map<string, Storefront>();
  const received: StorefrontRequest[] = [];
  let connections = 0;
  const authority = createTestCertificate({ names: ['Vitrine storefront fixtures'], isAuthority: true });
  const contexts = new Map<string, ReturnType<typeof createSecureContext>>();
  const contextOf = (host: string) => {
    const context = contexts.get(host) ?? createSecureContext(createTestCertificate({ names: [host], signedBy: authority }));
    contexts.set(host, context);
    return context;
  };
  const serve = (scheme: 'http' | 'https') => (request: IncomingMessage, response: ServerResponse) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    received.push({ scheme, host, method: request.method ?? '', path: request.url ?? '', headers: request.headers });
    if (received.length > MAX_RECEIVED) received.shift();
    const shop = shops.get(host);
    void readBody(request).then((body) => send(response, shop === undefined ? MISDIRECTED : respond(request, body, shop), shop));
  };
  const options = { keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS };
  const fallback = createTestCertificate({ names: ['unknown.invalid'], signedBy: authority });
  const tlsOptions = {
    ...options,
    cert: fallback.cert,
    key: fallback.key,
    SNICallback: (name: string, done: (error: Error | null, context?: ReturnType<typeof createSecureContext>) => void) =>
      shops.has(name) ? done(null, contextOf(name)) : done(new Error(`no storefront ${name}`)),
  };
  const servers = [createServer(options, serve('http')), createTlsServer(tlsOptions, serve('https'))];
  for (const server of servers) {
    server.on('connection', () => void (connections += 1));
    server.on('tlsClientError', () => {});
    server.listen(0, address);
    await once(server, 'listening');
  }
  const [httpPort = 0, httpsPort = 0] = servers.map((server) => (server.address() as AddressInfo).port);
  const find = (host: string): Storefront => shops.get(host) ?? unknownHost(host);
  const add = (storefront: StorefrontOptions) => void shops.set(storefront.host, withDefaults(storefront));
  const change: Storefronts['change'] = (host, changes) => add({ ...find(host), ...changes });
  for (const storefront of initial) add(storefront);

  return {
    address,
    httpPort,
    httpsPort,
    ca: authority.cert,
    received,
    add,
    change,
    storefront: find,
    get connections() {
      return connections;
    },
    get loopbackHosts() {
      return Object.fromEntries([...shops.keys()].map((host) => [host, { address, http_port: httpPort, https_port: httpsPort }]));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(
        servers.map(async (server) => {
          const closed = once(server, 'close');
          server.close();
          server.closeAllConnections();
          await closed;
        }),
      );
    },
  };
}

const MISDIRECTED: FixtureResponse = { status: 421, type: 'text/plain', body: 'no such storefront\n' };

function respond(request: IncomingMessage, body: string, shop: Storefront): FixtureResponse {
  const url = new URL(request.url ?? '/', `http://${shop.host}`);
  const instead = respondInsteadOfPage(url.pathname, shop);
  if (instead !== undefined) return instead;
  if (url.pathname === '/robots.txt')
    return shop.robots === null ? { status: 404, type: 'text/plain', body: '' } : { type: 'text/plain', body: robotsOf(shop) };
  const fixtureRequest = { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams, body };
  return (
    findPlatform(shop.platform)?.endpoint?.(fixtureRequest, shop) ??
    renderPath(url.pathname, url.search, shop) ??
    renderNotFound(shop)
  );
}

function robotsOf({ robots, platform, host }: Storefront): string {
  const { sitemap } = findPlatform(platform) ?? {};
  const named = robots === DEFAULT_ROBOTS && sitemap !== undefined ? `Sitemap: https://${host}${sitemap}\n` : '';
  return `${robots ?? ''}${named}`;
}

function send(response: ServerResponse, { status = 200, type, headers, body }: FixtureResponse, shop?: Storefront): void {
  const { headers: platformHeaders, cookies } = (shop && findPlatform(shop.platform)) ?? {};
  const isOwnPage = shop !== undefined && respondInsteadOfPage('/', shop) === undefined && status < 400;
  response.writeHead(status, {
    'content-type': type ?? 'text/html; charset=utf-8',
    ...(isOwnPage ? platformHeaders : {}),
    ...(isOwnPage && cookies !== undefined && type === undefined ? { 'set-cookie': [...cookies] } : {}),
    ...headers,
  });
  response.end(body);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      size += (chunk as Buffer).length;
      if (size <= MAX_REQUEST_BYTES) chunks.push(chunk as Buffer);
    }
  } catch {
    // The client left, so no response is needed.
  }
  return Buffer.concat(chunks).toString();
}

function withDefaults(options: StorefrontOptions): Storefront {
  return {
    platform: 'shopify',
    behaviour: 'open',
    name: 'Fixture Goods',
    currency: 'EUR',
    country: 'DE',
    language: 'en',
    technologies: [],
    products: 12,
    linked: true,
    robots: DEFAULT_ROBOTS,
    movedTo: 'https://example.net/',
    pageBytes: 0,
    ...options,
  };
}

function unknownHost(host: string): never {
  throw new Error(`no storefront ${host} was started`);
}
