import type { CapturedExchange } from './captured-exchange.ts';
import { readsBack } from './stored-responses.ts';

/** Requests that call no model, or one that is free: moderations, files, lists, counting tokens, and objects that are only kept. */
const FREE_PATH =
  /\/(?:moderations|files|uploads|vector_stores|conversations|assistants|containers|skills|models|evals|fine_tuning|organization|batches)(?:[/?]|$)|\/(?:count_tokens|input_tokens)(?:\?|$)|\/threads(?:\/(?!runs)[^/?]+(?:\/messages(?:\/[^/?]+)?)?)?(?:\?|$)/;

/** Whether the provider charges nothing for the exchange, whatever it reports. `readsBack` is decided by the caller. Spec: G4.16. */
export function isFree({ method, path, sentStatus, outcome, upstreamError }: CapturedExchange): boolean {
  if (outcome === 'rejected' || readsBack({ method, path }) || FREE_PATH.test(path)) return true;
  if (outcome === 'completed' && sentStatus >= 400) return true;
  return upstreamError !== undefined && NEVER_SENT.includes(upstreamError);
}

/** The request did not reach the provider. */
const NEVER_SENT: readonly string[] = ['dns', 'connect_refused', 'connect_timeout', 'tls'];
