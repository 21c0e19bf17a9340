import type { KubernetesObject } from '@kubernetes/client-node';
import { hasStatus, type ApiRequest, type ApiRequests } from './kubernetes-client.ts';

const PAGE = 500;

/** The object at a path; undefined only when the API server says that there is none. */
export async function readObject<T>(
  server: ApiRequests,
  path: string,
  limits: Pick<ApiRequest, 'signal' | 'timeoutMs'> = {},
): Promise<T | undefined> {
  try {
    return await server.request<T>({ method: 'GET', path, ...limits });
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

interface ListedPage<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  /** An empty list of metadata has null items. */
  readonly items: readonly T[] | null;
}

/** The pages of a list. */
export async function* listPages<T>(
  server: ApiRequests,
  request: Pick<ApiRequest, 'path' | 'query' | 'isMetadataOnly' | 'signal'>,
): AsyncGenerator<ListedPage<T>> {
  let after: string | undefined;
  do {
    const query = { ...request.query, limit: PAGE, continue: after };
    const page = await server.request<ListedPage<T>>({ ...request, method: 'GET', query });
    yield page;
    after = page.metadata.continue === '' ? undefined : page.metadata.continue;
  } while (after !== undefined);
}

/** Creates the object, or takes ownership of the given fields, including those of another manager. Other fields are unchanged. */
export function applyObject<T extends KubernetesObject>(
  server: ApiRequests,
  path: string,
  body: object,
  fieldManager: string,
  signal: AbortSignal,
): Promise<T> {
  const query = { fieldManager, force: true };
  return server.request<T>({ method: 'PATCH', path, patch: 'apply', query, body, signal });
}

/** Merges into an object, null removes. Fails with a conflict if the object is no longer the given version. */
export function mergeObject<T>(
  server: ApiRequests,
  path: string,
  { metadata = {}, ...change }: { readonly metadata?: object; readonly [field: string]: unknown },
  resourceVersion: string,
  signal?: AbortSignal,
): Promise<T> {
  const body = { metadata: { ...metadata, resourceVersion }, ...change };
  return server.request<T>({ method: 'PATCH', path, patch: 'merge', body, ...(signal && { signal }) });
}

/** Merges into the status of a custom resource. Fails with a conflict if the object is not the version that `status` is based on. */
export function mergeStatus<T>(
  server: ApiRequests,
  path: string,
  status: object,
  resourceVersion: string,
  signal?: AbortSignal,
): Promise<T> {
  return mergeObject<T>(server, `${path}/status`, { status }, resourceVersion, signal);
}
