import { KubeConfig } from '@kubernetes/client-node';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isSelected, patched, requireVersion, WriteRejected, type StoredObject } from './fake-writes.ts';

// Events that are too rare on a real API server to test: errors, lost watches, compacted versions.

/** Handles a request instead of the server if it returns true. */
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

/** The path of one object, not of a list. */
const ONE = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/namespaces\/[^/]+\/[^/]+\/[^/]+$|^\/api\/v1\/namespaces\/[^/]+$/;

/** Objects by path, with resource versions and generations, lists in pages, watches with what was missed, conflicts, patches, the status
 *  subresource of custom resources, finalizers, and garbage collection of owned objects. */
export class FakeApiServer implements AsyncDisposable {
  /** Requests so far, such as `GET /api/v1/namespaces/a/secrets`; of a watch with `?watch`. */
  readonly requests: string[] = [];
  /** Called before every request, until it is replaced. */
  fault: Fault | undefined;
  readonly #server: Server;
  readonly #objects = new Map<string, StoredObject>();
  readonly #watches = new Map<ServerResponse, URL>();
  readonly #history: { readonly version: number; readonly path: string; readonly object: StoredObject; readonly line: string }[] =
    [];
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
    const before = this.#objects.get(path);
    const isChanged = JSON.stringify(before?.spec) !== JSON.stringify(object.spec);
    const metadata = {
      uid: before?.metadata?.uid ?? randomUUID(),
      creationTimestamp: before?.metadata?.creationTimestamp ?? '2026-01-01T00:00:00Z',
      generation: (before?.metadata?.generation ?? 0) + Number(before === undefined || isChanged),
      ...object.metadata,
      name,
      ...(namespace !== undefined && { namespace }),
      resourceVersion: String(this.#version),
    };
    const stored = { ...object, metadata };
    this.#objects.set(path, stored);
    this.#notify(before === undefined ? 'ADDED' : 'MODIFIED', path, stored);
    return stored;
  }

  /** Like `kubectl delete`: an object with finalizers stays until they are removed. */
  delete(path: string): void {
    const object = this.#objects.get(path);
    if ((object?.metadata?.finalizers ?? []).length === 0) return this.remove(path);
    const deletionTimestamp = '2026-01-02T00:00:00Z';
    const generation = (object?.metadata?.generation ?? 0) + 1;
    this.put(path, { ...object, metadata: { ...object?.metadata, deletionTimestamp, generation } });
  }

  remove(path: string): void {
    const object = this.#objects.get(path);
    if (object === undefined || !this.#objects.delete(path)) return;
    this.#version += 1;
    this.#notify('DELETED', path, { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } });
    const uid = object.metadata?.uid;
    for (const [owned, { metadata }] of this.#objects)
      if (metadata?.ownerReferences?.some((owner) => owner.uid === uid) === true) this.remove(owned);
  }

  /** Paths of all objects in a collection, or below it. */
  paths(collection: string): string[] {
    return [...this.#objects.keys()].filter((path) => isIn(collection, path));
  }

  read(path: string): StoredObject | undefined {
    return this.#objects.get(path);
  }

  /** Sends a line to every watch. */
  send(line: object | string): void {
    const text = typeof line === 'string' ? line : JSON.stringify(line);
    for (const response of this.#watches.keys()) response.write(`${text}\n`);
  }

  /** Ends all watches like a broken connection. */
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
    this.#history.push({ version: this.#version, path, object, line });
    for (const [response, { pathname, searchParams }] of this.#watches)
      if (isIn(pathname, path) && isSelected(object, searchParams)) response.write(line);
  }

  async #respond(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    if (request.method !== 'GET') return await this.#write(request, response, url.pathname);
    if (url.searchParams.has('watch')) return this.#watch(response, url);
    const object = this.#objects.get(url.pathname);
    if (object !== undefined) return sendJson(response, 200, object);
    if (ONE.test(url.pathname)) return sendStatus(response, 404, 'NotFound');
    this.#list(response, url);
  }

  #watch(response: ServerResponse, url: URL): void {
    const { pathname, searchParams } = url;
    this.#watches.set(response, url);
    response.on('close', () => this.#watches.delete(response));
    response.writeHead(200).flushHeaders();
    const from = Number(searchParams.get('resourceVersion') ?? this.#version);
    for (const { version, path, object, line } of this.#history)
      if (version > from && isIn(pathname, path) && isSelected(object, searchParams)) response.write(line);
  }

  #list(response: ServerResponse, { pathname, searchParams }: URL): void {
    const items = [...this.#objects]
      .filter(([path, object]) => isIn(pathname, path) && isSelected(object, searchParams))
      .map(([, object]) => object);
    const from = Number(searchParams.get('continue') ?? 0);
    const end = from + Number(searchParams.get('limit') ?? Infinity);
    const metadata = { resourceVersion: String(this.#version), ...(end < items.length && { continue: String(end) }) };
    sendJson(response, 200, { metadata, items: items.slice(from, end) });
  }

  async #write(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const text = await textOf(request);
    try {
      sendJson(response, 200, this.#written(request, path, text));
    } catch (error) {
      if (!(error instanceof WriteRejected)) throw error;
      sendStatus(response, error.status, error.reason);
    }
  }

  #written(request: IncomingMessage, path: string, text: string): StoredObject {
    if (request.method === 'POST') return this.#created(path, JSON.parse(text) as StoredObject);
    const at = path.replace(/\/status$/, '');
    const stored = this.#objects.get(at);
    if (request.method === 'PATCH') return this.#kept(at, patched(stored, request, at !== path, text));
    if (stored === undefined) throw new WriteRejected(404, 'NotFound');
    if (request.method === 'DELETE') return (this.delete(at), stored);
    const object = JSON.parse(text) as StoredObject;
    requireVersion(stored, object.metadata?.resourceVersion);
    return this.#kept(at, object);
  }

  #created(path: string, object: StoredObject): StoredObject {
    const { name = `${object.metadata?.generateName}${this.#version + 1}` } = object.metadata ?? {};
    const at = `${path}/${name}`;
    if (this.#objects.has(at)) throw new WriteRejected(409, 'AlreadyExists');
    return this.put(at, object);
  }

  /** Stores the object with this content, or deletes it if its last finalizer was removed. The generation counts changes of the spec, regardless
   *  of the sent value. */
  #kept(path: string, { metadata: { generation: _generation, ...metadata } = {}, ...rest }: StoredObject): StoredObject {
    const generation = this.#objects.get(path)?.metadata?.generation;
    const isGone = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    const isSame = JSON.stringify(this.#objects.get(path)?.spec) === JSON.stringify(rest.spec);
    const stored = this.put(path, { ...rest, metadata: { ...metadata, ...(isSame && generation && { generation }) } });
    if (isGone) this.remove(path);
    return stored;
  }
}

/** `collection` of all namespaces includes those of each. */
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
