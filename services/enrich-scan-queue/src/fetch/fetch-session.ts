import type { Redirect, ScanRequestContext } from '../scan/scan-ports.ts';
import { ROBOT_NAME, type FetchSettings } from './fetch-settings.ts';
import { FetchError, toFetchError } from './network/fetch-error.ts';
import { checkRedirect } from './network/check-url.ts';
import { HostConnection, type HttpRequest, type HttpResponse } from './network/host-connection.ts';
import { resolveHost, type CheckedHost } from './network/resolve-host.ts';
import { decodeText } from './reading/decode-text.ts';
import { ALLOW_ALL, parseRobots, type RobotsRules } from './reading/parse-robots.ts';
import { recognizeChallenge } from './reading/recognize-challenge.ts';
import type { RobotsCache } from './robots-cache.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
const ROBOTS_ACCEPT = 'text/plain, */*;q=0.1';

/** A response at the end of its redirects. */
export interface SessionResponse extends Omit<HttpResponse, 'body'> {
  readonly url: URL;
  readonly contentType: string;
  /** Decoded to text. */
  readonly text: string;
  readonly redirects: readonly Redirect[];
}

/** The gate postponed the scan. */
export class ScanDelayed extends Error {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('the host is busy with other scans');
    this.retryAfterMs = retryAfterMs;
  }
}

type PageRequest = Omit<HttpRequest, 'url'>;

/** All requests of one scan: robots.txt is read before the first one to an origin, the gate is asked before each, every redirect is checked like
 *  the first request, and bot defences are recognised in every response. Rejects with FetchError and ScanDelayed only. */
export class FetchSession implements AsyncDisposable {
  readonly #settings: FetchSettings;
  readonly #context: ScanRequestContext;
  /** Aborted by the caller or at the deadline of the scan. */
  readonly #signal: AbortSignal;
  readonly #robotsCache: RobotsCache;
  /** By name, so that no name is looked up twice in a scan. */
  readonly #hosts = new Map<string, CheckedHost>();
  readonly #connections = new Map<string, HostConnection>();
  #sitemaps: readonly string[] = [];

  constructor(settings: FetchSettings, robotsCache: RobotsCache, context: ScanRequestContext) {
    this.#settings = settings;
    this.#robotsCache = robotsCache;
    this.#context = context;
    this.#signal = AbortSignal.any([context.signal, AbortSignal.timeout(settings.limits.scanTimeoutMs)]);
  }

  /** The sitemaps of the last robots.txt. */
  get sitemaps(): readonly string[] {
    return this.#sitemaps;
  }

  /** Whether the time of the scan is over, or the caller wants no more of it. */
  get isOver(): boolean {
    return this.#signal.aborted;
  }

  /** Whether the caller has aborted the scan. Then the data read so far is discarded as well. */
  get isAborted(): boolean {
    return this.#context.signal.aborted;
  }

  /** Fetches a page or document, if robots.txt allows it, and follows its redirects. */
  async get(start: URL, request: PageRequest): Promise<SessionResponse> {
    const response = await this.#follow(start, request, (url) => this.#checkRobots(url));
    this.#stopAtChallenge(response);
    return response;
  }

  /** Whether robots.txt of the origin allows the address. Reads robots.txt if needed. */
  async isAllowed(url: URL): Promise<boolean> {
    return (await this.#robotsOf(url)).isAllowed(`${url.pathname}${url.search}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection[Symbol.asyncDispose]()));
  }

  async #follow(start: URL, request: PageRequest, checkHop: (url: URL) => Promise<void>): Promise<SessionResponse> {
    const redirects: Redirect[] = [];
    const visited = new Set<string>();
    let url = start;
    for (;;) {
      if (visited.has(url.href)) throw new FetchError('refused_redirect', `${url.host} redirects in a circle`);
      visited.add(url.href);
      await checkHop(url);
      const response = await this.#send(url, request);
      const { location } = response.headers;
      if (!REDIRECTS.has(response.status) || location === undefined || location === '') return withText(url, response, redirects);
      if (redirects.length >= this.#settings.limits.maxRedirects)
        throw new FetchError('refused_redirect', `more than ${this.#settings.limits.maxRedirects} redirects`);
      const next = checkRedirect(location, url);
      redirects.push({ from: url.href, to: next.href, status: response.status });
      url = next;
    }
  }

  async #send(url: URL, request: PageRequest): Promise<HttpResponse> {
    try {
      const connection = await this.#connectionTo(url, this.#requestSignal());
      const target = { host: connection.host.hostname, address: connection.host.addresses[0] };
      const delay = await this.#context.gate.waitTurn(target, this.#signal);
      if (delay !== undefined) throw new ScanDelayed(delay.delayedMs);
      const response = await connection.get({ url, ...request }, this.#requestSignal());
      const retryAfterMs = retryAfterOf(response.headers['retry-after']);
      if (retryAfterMs !== undefined && [429, 430, 503].includes(response.status))
        await this.#context.gate.slowDown(target, 'retry_after', retryAfterMs);
      return response;
    } catch (error) {
      throw error instanceof ScanDelayed ? error : this.#signal.aborted ? this.#timedOut() : toFetchError(error);
    }
  }

  #timedOut(): FetchError {
    return new FetchError('timed_out', this.isAborted ? 'the scan was aborted' : 'the time of the scan was over', {
      cause: this.#signal.reason,
    });
  }

  #requestSignal(): AbortSignal {
    return AbortSignal.any([this.#signal, AbortSignal.timeout(this.#settings.limits.requestTimeoutMs)]);
  }

  async #connectionTo(url: URL, signal: AbortSignal): Promise<HostConnection> {
    const known = this.#connections.get(url.origin);
    if (known !== undefined) return known;
    if (this.#connections.size >= this.#settings.limits.maxOrigins)
      throw new FetchError('refused_redirect', `more than ${this.#settings.limits.maxOrigins} hosts in one scan`);
    const host = this.#hosts.get(url.hostname) ?? (await resolveHost(url.hostname, this.#settings, signal));
    this.#hosts.set(url.hostname, host);
    const connection = new HostConnection(url, host, this.#settings, this.#signal);
    this.#connections.set(url.origin, connection);
    return connection;
  }

  async #checkRobots(url: URL): Promise<void> {
    if (await this.isAllowed(url)) return;
    throw new FetchError('robots_denied', `robots.txt of ${url.host} excludes ${url.pathname.slice(0, 200)}`);
  }

  async #robotsOf(url: URL): Promise<RobotsRules> {
    const rules = this.#robotsCache.get(url.origin) ?? (await this.#readRobots(url));
    this.#robotsCache.set(url.origin, rules);
    this.#sitemaps = rules.sitemaps;
    return rules;
  }

  /** RFC 9309, 2.3.1: a missing file allows all, an unreachable one forbids all. */
  async #readRobots({ origin }: URL): Promise<RobotsRules> {
    const limit = { maxBytes: this.#settings.limits.maxRobotsBytes, truncate: true };
    const response = await this.#follow(new URL('/robots.txt', origin), { accept: ROBOTS_ACCEPT, limit }, async () => {});
    if (response.status >= 400) this.#stopAtChallenge(response);
    if (response.status >= 500)
      throw new FetchError('robots_unavailable', `robots.txt of ${response.url.host} answered ${response.status}`, {
        retryAfterMs: retryAfterOf(response.headers['retry-after']),
      });
    if (response.status < 200 || response.status >= 300) return ALLOW_ALL;
    const rules = parseRobots(response.text, ROBOT_NAME);
    if (rules.crawlDelayMs !== undefined) {
      const connection = await this.#connectionTo(response.url, this.#signal);
      const target = { host: connection.host.hostname, address: connection.host.addresses[0] };
      await this.#context.gate.slowDown(target, 'crawl_delay', rules.crawlDelayMs);
    }
    return rules;
  }

  #stopAtChallenge({ url, status, headers, text }: SessionResponse): void {
    const challenge = recognizeChallenge({ url: url.href, status, headers, text });
    if (challenge === undefined) return;
    const { kind, vendor } = challenge;
    throw new FetchError(kind, `${url.host} answered ${status} (${vendor})`, {
      retryAfterMs: retryAfterOf(headers['retry-after']),
    });
  }
}

function withText(url: URL, { body, ...response }: HttpResponse, redirects: readonly Redirect[]): SessionResponse {
  const contentType = response.headers['content-type'] ?? '';
  return { ...response, url, contentType, text: decodeText(body, contentType), redirects };
}

/** Seconds or a date (RFC 9110, 10.2.3); at most a day. */
export function retryAfterOf(value: string | undefined, now: () => number = Date.now): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now();
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}
