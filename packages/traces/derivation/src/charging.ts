import type { CapturedExchange } from './captured-exchange.ts';
import { readsBack } from './stored-responses.ts';

/** Requests that call no model, or one that is free: moderations, files, lists, counting tokens, and objects that are only kept. */
const FREE_PATH =
  /(?<!\/deployments)\/(?:moderations|files|uploads|vector_stores|conversations|assistants|containers|skills|models|evals|fine_tuning|organization|batches)(?:\/|$)|\/(?:count_tokens|input_tokens|cancel)$|\/threads(?:\/(?!runs)[^/]+(?:\/messages(?:\/[^/]+)?)?)?$/;

/** Whether a provider charges nothing for such a request. A client can neither make it free by its query nor by the name of a deployment. */
export function isFreeRequest({ method, path }: Pick<CapturedExchange, 'method' | 'path'>): boolean {
  return readsBack({ method, path }) || FREE_PATH.test(path.split('?', 1)[0] ?? '');
}

/** Whether the provider charges nothing for the exchange, whatever it reports. `readsBack` is decided by the caller. Spec: G4.16. */
export function isFree({ method, path, sentStatus, outcome, upstreamError }: CapturedExchange): boolean {
  if (outcome === 'rejected' || isFreeRequest({ method, path })) return true;
  // The provider refused, also if the client did not wait for the end of that response.
  if ((outcome === 'completed' || outcome === 'client_closed') && sentStatus >= 400) return true;
  return upstreamError !== undefined && NEVER_SENT.includes(upstreamError);
}

/** The request did not reach the provider. */
const NEVER_SENT: readonly string[] = ['dns', 'connect_refused', 'connect_timeout', 'tls'];
