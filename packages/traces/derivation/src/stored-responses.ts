import type { ResponseState } from './body-facts.ts';
import type { Provider } from '@vitrine/traces/trace';

// What a provider stores is read back with the usage that making it had, again and again. Only making it is charged; and what is made in
// the background is charged when its usage is first seen. Spec: G11.19.

interface ResponsesRequest {
  readonly provider: Provider;
  readonly method: string;
  readonly path: string;
}

/** A response of OpenAI's that is read, or cancelled; and a stored chat completion whose metadata are changed. */
const STORED_RESPONSE = /^[^?]*\/responses\/([^/?]+)(\/cancel)?\/?(?:\?|$)/;
const CHANGED_COMPLETION = /^[^?]*\/chat\/completions\/[^/?]+\/?(?:\?|$)/;
const CREATED_RESPONSE = /^[^?]*\/responses\/?(?:\?|$)/;
/** What an id may look like; another one is not remembered. */
const RESPONSE_ID = /^[\w.:-]{1,256}$/;
/** Where usage is counted that was read back; see `usagePathOf`. */
const RESPONSES_PATH = '/v1/responses';

/** Whether an exchange makes nothing that is charged: any method but POST, and what POST does to what is stored. */
export function readsBack({ method, path }: Pick<ResponsesRequest, 'method' | 'path'>): boolean {
  if (method !== 'POST') return true;
  // Almost nothing passes this, at a fifth of what the patterns take.
  if (!path.includes('/responses/') && !path.includes('/completions/')) return false;
  return STORED_RESPONSE.exec(path)?.[2] !== undefined || CHANGED_COMPLETION.test(path);
}

/** The id of the finished response that is read back; undefined when it is not finished, or no response. */
export function finishedResponse({ provider, path }: ResponsesRequest, state: ResponseState | undefined): string | undefined {
  const inPath = provider === 'openai' ? STORED_RESPONSE.exec(path)?.[1] : undefined;
  if (inPath === undefined || state?.isFinished === false) return undefined;
  const id = state?.id ?? decoded(inPath);
  return RESPONSE_ID.test(id) ? id : undefined;
}

/** The id of a response that was created and is not finished, if there is one. It is one in the background when it says so, or its
 *  request does; and when it came as JSON: there nothing else returns an unfinished one. */
export function pendingResponse(
  { provider, method, path }: ResponsesRequest,
  state: ResponseState | undefined,
  isInBackground: () => boolean,
): string | undefined {
  if (state === undefined || state.isFinished || !RESPONSE_ID.test(state.id)) return undefined;
  if (provider !== 'openai' || method !== 'POST' || !CREATED_RESPONSE.test(path)) return undefined;
  return state.background || isInBackground() ? state.id : undefined;
}

/** The path whose use of tokens an exchange's is: what is counted when it is read back was used where it was made. */
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
