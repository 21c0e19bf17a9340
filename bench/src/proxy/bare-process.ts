import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { Pool, type Dispatcher } from 'undici';

import { PROXY_PREFIX } from './exchange.ts';
import { serve } from './serve.ts';

/** The baseline: the fastest forwarder we can build from node:http and undici, without other features. The request body is buffered (head and body
 *  are then sent in one write), the response streams with back-pressure. */
const pool = new Pool(process.argv[2] ?? '', { connections: null, headersTimeout: 0, bodyTimeout: 0 });

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
]);

let forwarded = 0;

const server = createServer((req, res) => {
  let body: Buffer | undefined;
  req.on('data', (chunk: Buffer) => {
    body = body === undefined ? chunk : Buffer.concat([body, chunk]);
  });
  req.on('end', () => {
    forwarded += 1;
    const path = (req.url ?? '').slice(PROXY_PREFIX.length);
    pool.dispatch(
      { path, method: req.method as Dispatcher.HttpMethod, headers: endToEnd(req), body: body ?? null },
      new Forwarding(res),
    );
  });
});

function endToEnd(req: IncomingMessage): string[] {
  const raw = req.rawHeaders;
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? '';
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, raw[i + 1] ?? '');
  }
  return kept;
}

class Forwarding implements Dispatcher.DispatchHandler {
  readonly #res: ServerResponse;
  #done = false;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(res: ServerResponse) {
    this.#res = res;
    res.on('close', () => {
      if (!this.#done) this.#controller?.abort(new Error('client left'));
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#res.destroyed) controller.abort(new Error('client left'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) return;
    const raw = controller.rawHeaders as Buffer[];
    const kept: string[] = [];
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i]?.toString('latin1') ?? '';
      if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, raw[i + 1]?.toString('latin1') ?? '');
    }
    this.#res.writeHead(status, kept);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#res.write(chunk)) return;
    controller.pause();
    this.#res.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    this.#done = true;
    this.#res.end();
  }

  onResponseError(): void {
    this.#done = true;
    this.#res.destroy();
  }
}

serve(server, () => forwarded);
