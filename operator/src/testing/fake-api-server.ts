import { KubeConfig } from '@kubernetes/client-node';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// What a real API server does too rarely to test: errors, lost watches, compacted versions.

/** An object of any kind. */
export interface StoredObject {
  readonly kind?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
}

/** Responds to a request in place of the server when it returns true. */
export type Fault = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;

/** A fault that responds with a status and reason to requests that `matches` accepts, `times` times. */
export function failing(status: number, reason: string, times: number, matches: (request: IncomingMessage) => boolean): Fault {
  let left = times;
  return (request, response) => {
    if (left === 0 || !matches(request)) return false;
    left -= 1;
    sendStatus(response, status, reason);
    return true;
  };
}

export async function startFakeApiServer(): Promise<FakeApiServer> {
  const fake = new FakeApiServer();
  await fake.listen();
  return fake;
}

/** Objects by path, with resource versions, lists in pages, watches with what was missed, and conflicts of PUT. */
export class FakeApiServer implements AsyncDisposable {
  /** Requests so far, such as `GET /api/v1/namespaces/a/secrets`; of a watch with `?watch`. */
  readonly requests: string[] = [];
  /** Tried in front of every request, until it is replaced. */
  fault: Fault | undefined;
  readonly #server: Server;
  readonly #objects = new Map<string, StoredObject>();
  readonly #watches = new Map<ServerResponse, string>();
  readonly #history: { readonly version: number; readonly path: string; readonly line: string }[] = [];
  #version = 100;

  constructor() {
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://fake');
      this.requests.push(`${request.method} ${url.pathname}${url.searchParams.has('watch') ? '?watch' : ''}`);
      if (this.fault?.(request, response, url) === true) request.resume();
      else void this.#respond(request, response, url);
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get config(): KubeConfig {
    const { port } = this.#server.address() as AddressInfo;
    const config = new KubeConfig();
    const cluster = { name: 'fake', server: `http://127.0.0.1:${port}`, skipTLSVerify: true };
    config.loadFromClusterAndUser(cluster, { name: 'test', token: 'test-token' });
    return config;
  }

  get watches(): number {
    return this.#watches.size;
  }

  /** Creates or replaces an object at its path, such as `/apis/x/v1/namespaces/a/things/b`. */
  put(path: string, object: StoredObject = {}): StoredObject {
    this.#version += 1;
    const [, namespace] = /\/namespaces\/([^/]+)\//.exec(path) ?? [];
    const name = path.slice(path.lastIndexOf('/') + 1);
    const resourceVersion = String(this.#version);
    const metadata = { ...object.metadata, name, ...(namespace !== undefined && { namespace }), resourceVersion };
    const type = this.#objects.has(path) ? 'MODIFIED' : 'ADDED';
    const stored = { ...object, metadata };
    this.#objects.set(path, stored);
    this.#notify(type, path, stored);
    return stored;
  }

  remove(path: string): void {
    const object = this.#objects.get(path);
    if (object === undefined || !this.#objects.delete(path)) return;
    this.#version += 1;
    this.#notify('DELETED', path, { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } });
  }

  read(path: string): StoredObject | undefined {
    return this.#objects.get(path);
  }

  /** Sends a line to every watch. */
  send(line: object | string): void {
    const text = typeof line === 'string' ? line : JSON.stringify(line);
    for (const response of this.#watches.keys()) response.write(`${text}\n`);
  }

  /** Ends all watches as a broken connection does. */
  cutWatches(): void {
    for (const response of this.#watches.keys()) response.destroy();
  }

  endWatches(): void {
    for (const response of this.#watches.keys()) response.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #notify(type: string, path: string, object: StoredObject): void {
    const line = `${JSON.stringify({ type, object })}\n`;
    this.#history.push({ version: this.#version, path, line });
    for (const [response, collection] of this.#watches) if (isIn(collection, path)) response.write(line);
  }

  async #respond(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    if (request.method === 'POST' || request.method === 'PUT') return await this.#write(request, response, url.pathname);
    if (url.searchParams.has('watch')) return this.#watch(response, url);
    const object = this.#objects.get(url.pathname);
    if (object !== undefined) return sendJson(response, 200, object);
    if (/\/leases\/[^/]+$/.test(url.pathname)) return sendStatus(response, 404, 'NotFound');
    this.#list(response, url);
  }

  #watch(response: ServerResponse, { pathname, searchParams }: URL): void {
    this.#watches.set(response, pathname);
    response.on('close', () => this.#watches.delete(response));
    response.writeHead(200).flushHeaders();
    const from = Number(searchParams.get('resourceVersion') ?? this.#version);
    for (const { version, path, line } of this.#history) if (version > from && isIn(pathname, path)) response.write(line);
  }

  #list(response: ServerResponse, { pathname, searchParams }: URL): void {
    const items = [...this.#objects].filter(([path]) => isIn(pathname, path)).map(([, object]) => object);
    const from = Number(searchParams.get('continue') ?? 0);
    const end = from + Number(searchParams.get('limit') ?? Infinity);
    const metadata = { resourceVersion: String(this.#version), ...(end < items.length && { continue: String(end) }) };
    sendJson(response, 200, { metadata, items: items.slice(from, end) });
  }

  async #write(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const object = JSON.parse(await textOf(request)) as StoredObject;
    const at = request.method === 'POST' ? `${path}/${object.metadata?.name}` : path;
    const stored = this.#objects.get(at)?.metadata?.resourceVersion;
    if (request.method === 'POST' && stored !== undefined) return sendStatus(response, 409, 'AlreadyExists');
    if (request.method === 'PUT' && stored === undefined) return sendStatus(response, 404, 'NotFound');
    const expected = object.metadata?.resourceVersion ?? stored;
    if (request.method === 'PUT' && expected !== stored) return sendStatus(response, 409, 'Conflict');
    sendJson(response, 200, this.put(at, object));
  }
}

/** `collection` of all namespaces has those of each. */
function isIn(collection: string, path: string): boolean {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return parent === collection || parent.replace(/\/namespaces\/[^/]+\//, '/') === collection;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

function sendStatus(response: ServerResponse, status: number, reason: string): void {
  sendJson(response, status, { kind: 'Status', reason, message: `it is ${reason}`, code: status });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
