import { backgroundReference, type BackgroundReference } from '@vitrine/traces/background-response';
import type { BodyFacts } from './body-facts.ts';
import type { CapturedExchange } from './captured-exchange.ts';
import { finishedResponse, pendingResponse, readsBack } from './stored-responses.ts';
import type { Usage } from './usage.ts';

/** The charged usage of an exchange. */
export interface ChargedUsage {
  /** Undefined when nothing was counted or charged. */
  readonly usage: Usage | undefined;
  /** Whether nothing could be charged. */
  readonly isFree: boolean;
  /** The provider's id of a background response that was created here, or whose usage this may be. */
  readonly responseId: string | undefined;
  readonly background: BackgroundReference | undefined;
  /** Whether the response reported usage that does not count here. */
  readonly isReadBack: boolean;
}

/** The usage that counts for an exchange. Reading back counts nothing, except once for a background response, which the store decides. See
 *  `stored-responses.ts`. `isInBackground`: whether the request was for a background response. */
export function chargedUsage(
  exchange: CapturedExchange,
  facts: BodyFacts | undefined,
  isInBackground: () => boolean,
): ChargedUsage {
  const usage = facts?.usage;
  if (!readsBack(exchange)) {
    const created = usage === undefined ? pendingResponse(exchange, facts?.response, isInBackground) : undefined;
    return { usage, isFree: false, isReadBack: false, ...referenceTo('created', created) };
  }
  const finished = usage === undefined ? undefined : finishedResponse(exchange, facts?.response);
  const isCounted = finished !== undefined;
  return {
    usage: isCounted ? usage : undefined,
    isFree: !isCounted,
    isReadBack: usage !== undefined && !isCounted,
    ...referenceTo('finished', finished),
  };
}

function referenceTo(role: BackgroundReference['role'], responseId: string | undefined) {
  return { responseId, background: responseId === undefined ? undefined : backgroundReference(role, responseId) };
}
