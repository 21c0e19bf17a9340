import { codeOf } from '@vitrine/faults/fault';
import { Client, type Dispatcher } from 'undici';
import type { FetchSettings } from '../fetch-settings.ts';
import { connectPinned } from './connect-pinned.ts';
import { FetchError } from './fetch-error.ts';
import { ACCEPTED_ENCODINGS, readBody, type BodyLimit } from './read-body.ts';
import type { CheckedHost } from './resolve-host.ts';

const CLOSED_MEANWHILE = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const DEFAULT_PORTS = { http: 80, https: 443 };
const MAX_COOKIE_NAMES = 100;
const MAX_COOKIE_NAME_LENGTH = 200;

export interface HttpRequest {
  readonly url: URL;
  readonly accept: string;
  readonly limit: BodyLimit;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case, repeated ones joined, without cookies. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names of cookies that were set. Their values are not kept. */
  readonly cookieNames: readonly string[];
  /** Decoded. */
  readonly body: Buffer;
}

/** One connection to the checked address of an origin, used for one request after another. */
export class HostConnection implements AsyncDisposable {
  readonly host: CheckedHost;
  readonly #client: Client;
  readonly #settings: FetchSettings;
  #isUsed = false;

  /** Does not connect yet. `signal` ends later attempts to connect. */
  constructor(origin: URL, host: CheckedHost, settings: FetchSettings, signal: AbortSignal) {
    this.host = host;
    this.#settings = settings;
    const { limits, ca, dial } = settings;
    const scheme = origin.protocol === 'https:' ? 'https' : 'http';
    const port = host.loopbackPorts?.[scheme] ?? (Number(origin.port) || DEFAULT_PORTS[scheme]);
    const target = { host, scheme, port, connectTimeoutMs: limits.connectTimeoutMs, ca, dial } as const;
    this.#client = new Client(origin.origin, {
      connect: (_options, callback) =>
        void connectPinned(target, signal).then(
          (socket) => callback(null, socket),
          (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
        ),
      pipelining: 1,
      headersTimeout: limits.headersTimeoutMs,
      bodyTimeout: limits.idleTimeoutMs,
      maxHeaderSize: limits.maxHeaderBytes,
      allowH2: false,
    });
  }

  /** Sends one GET and reads the whole response. Throws FetchError, or an error of the connection. */
  async get({ url, accept, limit }: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const { headers, statusCode, body } = await this.#request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: {
        accept,
        'accept-encoding': ACCEPTED_ENCODINGS,
        'accept-language': 'en',
        'user-agent': this.#settings.userAgent,
      },
      signal,
    });
    try {
      checkHeaderCount(headers, this.#settings.limits.maxHeaders);
      const decoded = await readBody(body, joined(headers['content-encoding']), limit);
      return {
        status: statusCode,
        headers: plainHeaders(headers),
        cookieNames: cookieNamesOf(headers['set-cookie']),
        body: decoded,
      };
    } finally {
      // A body that was not read to its end would block the connection.
      body.on('error', () => {});
      body.destroy();
    }
  }

  /**
   * Retries once if the server has closed the connection since the last request, which is detected only when the next one is sent (RFC
   * 9110, 9.2.2).
   */
  async #request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    const isReused = this.#isUsed;
    this.#isUsed = true;
    try {
      return await this.#client.request(options);
    } catch (error) {
      if (!isReused || !CLOSED_MEANWHILE.has(codeOf(error))) throw error;
      return await this.#client.request(options);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.destroy();
  }
}

type Headers = Dispatcher.ResponseData['headers'];

function checkHeaderCount(headers: Headers, maxHeaders: number): void {
  const count = Object.values(headers).reduce((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0);
  if (count > maxHeaders) throw new FetchError('too_large', `the response has more than ${maxHeaders} headers`);
}

function plainHeaders({ 'set-cookie': _cookies, ...headers }: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), joined(value)]));
}

function joined(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value ?? []).join(', ');
}

function cookieNamesOf(value: string | readonly string[] | undefined): string[] {
  const names = [value ?? []].flat().map((cookie) => cookie.slice(0, MAX_COOKIE_NAME_LENGTH).split(/[=;]/, 1)[0]?.trim() ?? '');
  return [...new Set(names.filter((name) => name !== ''))].slice(0, MAX_COOKIE_NAMES);
}
