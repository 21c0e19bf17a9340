import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { cachedLookup } from './cached-lookup.ts';
import { writeRequestHead, type UpstreamRequest } from './request-head.ts';
import {
  UpstreamConnection,
  type ConnectionOwner,
  type ReadInto,
  type UpstreamControl,
  type UpstreamHandler,
} from './upstream-connection.ts';
import { upstreamError } from './upstream-error.ts';

/** How long an idle connection is kept, unless the provider announces another time. */
const IDLE_MS = 4_000;
const IDLE_MAX_MS = 600_000;
/** How much earlier than the provider an idle connection is closed, so that no request is sent into a closing one. */
const IDLE_MARGIN_MS = 1_000;
const SWEEP_MS = 1_000;
const TCP_KEEP_ALIVE_MS = 60_000;

/** The settings of provider connections, named as in the configuration's `proxy`. */
export interface UpstreamSettings {
  readonly connect_timeout_ms: number;
}

interface UpstreamPoolOptions extends UpstreamSettings {
  /** Such as `https://api.openai.com`. */
  readonly origin: string;
  /** Certificates to trust instead of the system's; for tests. */
  readonly ca?: string;
}

/** The connections to one provider. Each carries one request at a time, and the most recently used one is used next. There are as many as requests
 *  in flight, which the proxy bounds. This is not a library because the gateway spends most of its time here: a bare forwarder takes 0.64 of the
 *  CPU of the same with undici's `dispatch`, and forwards 1.4 to 1.7 times as much. */
export class UpstreamPool implements ConnectionOwner, Disposable {
  readonly #origin: URL;
  readonly #ca: string | undefined;
  readonly connectTimeoutMs: number;
  readonly hostname: string;
  readonly #idle: UpstreamConnection[] = [];
  readonly #all = new Set<UpstreamConnection>();
  readonly #sweep: NodeJS.Timeout;
  readonly #lookup = cachedLookup();
  /** Requests that were sent again. */
  retries = 0;
  /** Used to resume TLS sessions. */
  #session: Buffer | undefined;

  constructor({ origin, connect_timeout_ms, ca }: UpstreamPoolOptions) {
    this.#origin = new URL(origin);
    // The address of an IPv6 host stands in brackets only in URLs.
    this.hostname = this.#origin.hostname.replace(/^\[|\]$/g, '');
    this.connectTimeoutMs = connect_timeout_ms;
    this.#ca = ca;
    this.#sweep = setInterval(() => this.#closeIdle(), SWEEP_MS).unref();
  }

  /** Sends a request. Throws `request_failed` for one that cannot be sent; every other error goes to `handler`, later. */
  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamControl {
    const framing = writeRequestHead(request, this.#origin.host);
    const connection = this.#takeIdle() ?? this.#open();
    connection.send(request, framing, handler);
    return connection;
  }

  retry(request: UpstreamRequest, handler: UpstreamHandler): void {
    this.retries += 1;
    const connection = this.#open();
    connection.send(request, writeRequestHead(request, this.#origin.host), handler);
    handler.onRetry(connection);
  }

  released(connection: UpstreamConnection, keepAlive: string | undefined): void {
    connection.idleSince = performance.now();
    connection.idleUntil = connection.idleSince + idleMs(keepAlive);
    this.#idle.push(connection);
  }

  closed(connection: UpstreamConnection): void {
    this.#all.delete(connection);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sweep);
    for (const connection of this.#all) connection.destroy(upstreamError('request_failed', 'the gateway has stopped'));
  }

  /** The sweep runs once a second, which equals the margin, so a connection may be too old by now. */
  #takeIdle(): UpstreamConnection | undefined {
    const now = performance.now();
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.isUsable && connection.idleUntil > now) return connection;
      connection.destroy(upstreamError('reset', 'idle for too long'));
    }
    return undefined;
  }

  #open(): UpstreamConnection {
    const connection = new UpstreamConnection(this);
    this.#all.add(connection);
    return connection;
  }

  connect(onread: ReadInto): Socket {
    const { port } = this.#origin;
    const host = this.hostname;
    const common = {
      host,
      lookup: this.#lookup,
      onread,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    };
    if (this.#origin.protocol !== 'https:') return connectTcp({ ...common, port: Number(port || 80) });
    const socket = connectTls({
      ...common,
      port: Number(port || 443),
      ALPNProtocols: ['http/1.1'],
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      ...(this.#session === undefined ? {} : { session: this.#session }),
      ...(this.#ca === undefined ? {} : { ca: this.#ca }),
    });
    socket.on('session', (session) => (this.#session = session));
    return socket;
  }

  #closeIdle(): void {
    const now = performance.now();
    const idle = this.#idle.splice(0);
    for (const connection of idle) {
      if (connection.isUsable && connection.idleUntil > now) this.#idle.push(connection);
      else connection.destroy(upstreamError('reset', 'idle for too long'));
    }
  }
}

/** RFC 2068, section 19.7.1.1, `Keep-Alive: timeout=n`. */
function idleMs(keepAlive: string | undefined): number {
  if (keepAlive === undefined) return IDLE_MS;
  const [, seconds] = /(?:^|[,;\s])timeout=(\d{1,6})(?:$|[,;\s])/i.exec(keepAlive) ?? [];
  return seconds === undefined ? IDLE_MS : Math.min(IDLE_MAX_MS, Math.max(0, Number(seconds) * 1_000 - IDLE_MARGIN_MS));
}
