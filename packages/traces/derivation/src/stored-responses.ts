import { bodyKindOf } from '@vitrine/privacy/bodies/body-kind';
import type { BodyKind } from '@vitrine/privacy/redaction';
import type { ResponseState } from './body-facts.ts';
import type { Provider } from '@vitrine/traces/trace';

// Each read of a stored object of a provider returns the usage of its creation. Only the creation is charged. A background response is
// charged when its usage is first seen. Spec: G11.19.

interface ResponsesRequest {
  readonly provider: Provider;
  readonly method: string;
  readonly path: string;
}

/** An OpenAI response that is read or cancelled, and a stored chat completion whose metadata is changed. */
const STORED_RESPONSE = /^[^?]*\/responses\/([^/?]+)(\/cancel)?\/?(?:\?|$)/;
const CHANGED_COMPLETION = /^[^?]*\/chat\/completions\/[^/?]+\/?(?:\?|$)/;
const CREATED_RESPONSE = /^[^?]*\/responses\/?(?:\?|$)/;
/** The format of ids. Others are not stored. */
const RESPONSE_ID = /^[\w.:-]{1,256}$/;
/** The path under which read-back usage is counted; see `usagePathOf`. */
const RESPONSES_PATH = '/v1/responses';

/** Whether an exchange creates nothing that is charged: any method other than POST, and POST to a stored object. */
export function readsBack({ method, path }: Pick<ResponsesRequest, 'method' | 'path'>): boolean {
  if (method !== 'POST') return true;
  // Almost no path passes this check, which costs a fifth of the patterns.
  if (!path.includes('/responses/') && !path.includes('/completions/')) return false;
  return STORED_RESPONSE.exec(path)?.[2] !== undefined || CHANGED_COMPLETION.test(path);
}

/** The id of the finished response that is read back; undefined when it is not finished or not a response. */
export function finishedResponse({ provider, path }: ResponsesRequest, state: ResponseState | undefined): string | undefined {
  const inPath = provider === 'openai' ? STORED_RESPONSE.exec(path)?.[1] : undefined;
  if (inPath === undefined || state?.isFinished === false) return undefined;
  const id = state?.id ?? decoded(inPath);
  return RESPONSE_ID.test(id) ? id : undefined;
}

/** The id of a created and unfinished response, if any. It is a background response when it or its request declares it, or when it is JSON,
 *  because only background responses are unfinished in JSON. */
export function pendingResponse(
  { provider, method, path }: ResponsesRequest,
  state: ResponseState | undefined,
  isInBackground: () => boolean,
): string | undefined {
  if (state === undefined || state.isFinished || !RESPONSE_ID.test(state.id)) return undefined;
  if (provider !== 'openai' || method !== 'POST' || !CREATED_RESPONSE.test(path)) return undefined;
  return state.background || isInBackground() ? state.id : undefined;
}

const CREATED_BATCH = /^[^?]*\/batches\/?(?:\?|$)/;
/** The results of a batch: a file at OpenAI, which its batch names, and at Anthropic a part of the batch. */
const BATCH_RESULTS = {
  openai: /^[^?]*\/files\/([^/?]+)\/content\/?(?:\?|$)/,
  anthropic: /^[^?]*\/batches\/([^/?]+)\/results\/?(?:\?|$)/,
};

/** The id of a batch that was created. */
export function createdBatch({ method, path }: ResponsesRequest, id: string | undefined): string | undefined {
  return method === 'POST' && CREATED_BATCH.test(path) && id !== undefined && RESPONSE_ID.test(id) ? id : undefined;
}

/** The id of what may be the results of a batch. */
export function batchResultsOf({ provider, method, path }: ResponsesRequest): string | undefined {
  const id = provider === 'unknown' || method !== 'GET' ? undefined : BATCH_RESULTS[provider].exec(path)?.[1];
  return id !== undefined && RESPONSE_ID.test(decoded(id)) ? decoded(id) : undefined;
}

/** How a response is read for usage. */
export function responseKindOf(request: ResponsesRequest, contentType: string | undefined): BodyKind {
  return batchResultsOf(request) === undefined ? bodyKindOf(contentType) : 'jsonl';
}

/** The path under which an exchange's tokens are counted. Usage that is read back counts under the path of its creation. */
export function usagePathOf(request: Pick<ResponsesRequest, 'method' | 'path'>): string {
  return readsBack(request) ? RESPONSES_PATH : request.path;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
