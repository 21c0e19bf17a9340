import { messageOf } from '@vitrine/faults/fault';
import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node';
import { fetch, type Dispatcher, type Response } from 'undici';

/** Default timeout of a request. */
export const REQUEST_TIMEOUT_MS = 15_000;
/** Tokens of service accounts are replaced minutes before they expire. */
const CREDENTIALS_MS = 10_000;
const MAX_RESPONSE_BYTES = 64 * 1_048_576;

const PATCH_TYPES = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
};

/** The API server refuses a watch of the kind of lists. */
const METADATA_ONLY = {
  list: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  watch: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
};

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Such as `/api/v1/namespaces/team-a/secrets`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** Of PATCH. */
  readonly patch?: keyof typeof PATCH_TYPES;
  /** Whether to request only the metadata of objects. */
  readonly isMetadataOnly?: boolean | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

type WatchRequest = Pick<ApiRequest, 'path' | 'query' | 'isMetadataOnly'> & { readonly signal: AbortSignal };

/** A response's status, or 0 when there was none. */
type OnRequest = (method: ApiRequest['method'], status: number) => void;

/** Reads and writes objects for controllers. */
export type ApiRequests = Pick<KubernetesClient, 'request' | 'watch'>;

/** The API server of a cluster. Kubeconfig, service account, their files and TLS are read by the library; requests are made here, because the
 *  library opens a connection for each (50 lists opened 50) and returns errors without their reason. */
export class KubernetesClient {
  readonly #config: KubeConfig;
  readonly #userAgent: string;
  readonly #onRequest: OnRequest;
  #dispatcher: Dispatcher | undefined;
  #credentials: { readonly headers: Record<string, string>; readonly readAt: number } | undefined;

  constructor(config: KubeConfig, userAgent: string, onRequest: OnRequest = () => {}) {
    this.#config = config;
    this.#userAgent = userAgent;
    this.#onRequest = onRequest;
  }

  /** Resolves with the object of the response. Rejects with an `ApiError` for any status of 400 or above, and without a response. */
  async request<T>({ timeoutMs = REQUEST_TIMEOUT_MS, signal, ...request }: ApiRequest): Promise<T> {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.#send(request, signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
      return JSON.parse(await boundedText(response)) as T;
    } catch (error) {
      if (error instanceof ApiError || signal?.aborted === true) throw error;
      const { method, path } = request;
      throw new ApiError(`${method} ${path}: no response: ${messageOf(error)}`, 0, 'NoResponse', error);
    }
  }

  /** Resolves with the chunks of a watch as soon as the server has accepted it. */
  async watch({ query, signal, ...watch }: WatchRequest): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#send({ ...watch, method: 'GET', query: { ...query, watch: true } }, signal);
    if (response.body === null) throw new Error(`the watch of ${watch.path} has no body`);
    return response.body;
  }

  /** Ends all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher?.destroy();
  }

  async #send(
    { method, path, query = {}, body, patch, isMetadataOnly = false }: ApiRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const server = this.#config.getCurrentCluster()?.server;
    if (server === undefined) throw new Error('the kubeconfig names no current cluster');
    const url = new URL(server + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = {
      ...(await this.#credentialHeaders(server)),
      accept: isMetadataOnly ? METADATA_ONLY[query['watch'] === true ? 'watch' : 'list'] : 'application/json',
      'user-agent': this.#userAgent,
      ...(body !== undefined && { 'content-type': patch === undefined ? 'application/json' : PATCH_TYPES[patch] }),
    };
    const init = { method, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await fetch(url, { ...init, ...(this.#dispatcher && { dispatcher: this.#dispatcher }) }).catch(
      (error: unknown) => {
        this.#onRequest(method, 0);
        throw error;
      },
    );
    this.#onRequest(method, response.status);
    if (response.status === 401) this.#credentials = undefined;
    if (response.status >= 400) {
      const sent = path.includes('/secrets') ? body : undefined;
      throw apiError(method, path, response.status, await boundedText(response), sent);
    }
    return response;
  }

  /** The library reads the files of certificates and makes a dispatcher each time; the first dispatcher is kept. */
  async #credentialHeaders(server: string): Promise<Record<string, string>> {
    const known = this.#credentials;
    if (known !== undefined && performance.now() - known.readAt < CREDENTIALS_MS) return known.headers;
    const context = new RequestContext(server, HttpMethod.GET);
    const readAt = performance.now();
    await this.#config.applySecurityAuthentication(context);
    this.#dispatcher ??= context.getDispatcher();
    this.#credentials = { headers: context.getHeaders(), readAt };
    return this.#credentials.headers;
  }
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error(`a response of the API server has more than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A response of the API server with a status of 400 or above, or none that could be read. */
export class ApiError extends Error {
  readonly code = 'kubernetes_api_error';
  /** 0 when there was no response. */
  readonly status: number;
  /** Such as `NotFound`, `AlreadyExists`, `Conflict`, `Expired`; empty when the server gave none. */
  readonly reason: string;

  constructor(message: string, status: number, reason: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.reason = reason;
  }
}

interface Status {
  readonly message?: string;
  readonly reason?: string;
}

const MAX_MESSAGE = 500;

/** `body`: a `Status` as JSON, or any text of something in front of the API server. `sent`: the object of the request. */
export function apiError(method: string, path: string, status: number, body: string, sent?: unknown): ApiError {
  const { message = body, reason = '' } = readStatus(body);
  const shown = withoutSecretData(message, sent).slice(0, MAX_MESSAGE);
  return new ApiError(`${method} ${path}: ${status} ${reason}: ${shown}`, status, reason);
}

/** Webhooks and policies quote what they like of an object, and the message is for logs and conditions. */
function withoutSecretData(message: string, sent: unknown): string {
  const { data } = (sent ?? {}) as { data?: Readonly<Record<string, unknown>> };
  const encoded = Object.values(data ?? {}).filter((value) => typeof value === 'string' && value !== '') as string[];
  const values = encoded.flatMap((value) => [value, Buffer.from(value, 'base64').toString()]);
  return values.filter((value) => value !== '').reduce((text, value) => text.replaceAll(value, '***'), message);
}

/** Whether an error is the API server's with this status, and with this reason when one is given. */
export function hasStatus(error: unknown, status: number, reason?: string): boolean {
  return error instanceof ApiError && error.status === status && (reason ?? error.reason) === error.reason;
}

function readStatus(body: string): Status {
  try {
    const { message, reason } = JSON.parse(body) as Status;
    return { ...(typeof message === 'string' && { message }), ...(typeof reason === 'string' && { reason }) };
  } catch {
    return {};
  }
}
