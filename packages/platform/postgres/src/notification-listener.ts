import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { backoffMs } from './backoff.ts';

const BACKOFF = { firstMs: 100, maxMs: 15_000 };
/** How often the connection is checked. Otherwise a silently lost server would be noticed only after hours. */
const CHECK_INTERVAL_MS = 15_000;

export interface NotificationHandlers {
  /** Called with the payload. */
  readonly onNotification: (payload: string) => void;
  /** Called when listening has begun and after each reconnection. Earlier notifications may have been missed. */
  readonly onMissed: () => void;
  /** Called when the connection could not be made, or was lost. */
  readonly onError?: (error: unknown) => void;
  readonly checkIntervalMs?: number;
}

/** Listens to one channel until it is disposed, reconnecting with backoff. */
export class NotificationListener implements AsyncDisposable {
  readonly #config: pg.ClientConfig;
  readonly #channel: string;
  readonly #handlers: NotificationHandlers;
  readonly #stop = new AbortController();
  readonly #untilStopped: Promise<void>;

  constructor(config: pg.ClientConfig, channel: string, handlers: NotificationHandlers) {
    this.#config = config;
    this.#channel = channel;
    this.#handlers = handlers;
    this.#untilStopped = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#untilStopped;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let retry = 0; !signal.aborted; retry += 1) {
      try {
        await this.#listen(() => (retry = 0));
      } catch (error) {
        if (!signal.aborted) this.#handlers.onError?.(error);
      }
      if (!signal.aborted) await wait(backoffMs(retry, BACKOFF, Math.random()), undefined, { signal }).catch(() => {});
    }
  }

  /** Listens until the connection is lost or the listener is disposed. */
  async #listen(onConnected: () => void): Promise<void> {
    const { promise: untilEnded, resolve: endWithout, reject: endWith } = Promise.withResolvers<void>();
    // The first of several failures is reported; later ones belong to it.
    untilEnded.catch(() => {});
    const client = new pg.Client(this.#config);
    client.on('error', endWith);
    client.on('end', () => endWith(new Error('the connection was closed')));
    client.on('notification', ({ payload = '' }) => this.#handlers.onNotification(payload));
    const stop = () => endWithout();
    this.#stop.signal.addEventListener('abort', stop);
    let timer: NodeJS.Timeout | undefined;
    try {
      await client.connect();
      await client.query(`LISTEN ${pg.escapeIdentifier(this.#channel)}`);
      onConnected();
      if (!this.#stop.signal.aborted) this.#handlers.onMissed();
      timer = checkRegularly(client, this.#handlers.checkIntervalMs ?? CHECK_INTERVAL_MS, endWith);
      await untilEnded;
    } finally {
      clearInterval(timer);
      this.#stop.signal.removeEventListener('abort', stop);
      // A broken connection cannot be closed gracefully.
      await client.end().catch(() => {});
    }
  }
}

/** A check without a response when the next one is due has failed. */
function checkRegularly(client: pg.Client, intervalMs: number, onFailure: (error: unknown) => void): NodeJS.Timeout {
  let isPending = false;
  return setInterval(() => {
    if (isPending) onFailure(new Error('the server does not respond'));
    isPending = true;
    client.query('SELECT 1').then(() => (isPending = false), onFailure);
  }, intervalMs);
}
