import type { BodyFacts } from './body-facts.ts';
import type { CapturedExchange } from './captured-exchange.ts';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import type { BackgroundResponses } from '@vitrine/traces/background-responses';
import { finishedResponse, pendingResponse, readsBack } from './stored-responses.ts';
import type { Usage } from './usage.ts';

/** What an exchange is charged for. */
export interface ChargedUsage {
  /** Undefined when nothing was counted, or nothing is charged for it. */
  readonly usage: Usage | undefined;
  /** That of the key that is charged: another one's, where a key polls what the other has created. */
  readonly scope: ExchangeScope;
  /** The model that the request for a response in the background named. */
  readonly model: string | undefined;
  /** Whether nothing could be charged. */
  readonly isFree: boolean;
  /** A response in the background that was created, or counted. */
  readonly responseId: string | undefined;
  /** The key that polled, when the usage is another's. */
  readonly polledBy: string | undefined;
  /** Whether the response reported usage that does not count here. */
  readonly isReadBack: boolean;
}

/** Says what is counted for an exchange, and on whom. Reading back counts nothing, except once what was made in the background; see
 *  `stored-responses.ts`. `isInBackground`: whether the request was for that. */
export function chargedUsage(
  exchange: CapturedExchange,
  facts: BodyFacts | undefined,
  isInBackground: () => boolean,
  background: BackgroundResponses | undefined,
): ChargedUsage {
  const usage = facts?.usage;
  const { scope } = exchange;
  if (!readsBack(exchange)) {
    const responseId = usage === undefined ? pendingResponse(exchange, facts?.response, isInBackground) : undefined;
    return { usage, scope, model: undefined, isFree: false, responseId, polledBy: undefined, isReadBack: false };
  }
  const responseId = usage === undefined ? undefined : finishedResponse(exchange, facts?.response);
  const taken = responseId === undefined ? undefined : background?.take(responseId, scope);
  if (taken === undefined) {
    const isReadBack = usage !== undefined;
    return { usage: undefined, scope, model: undefined, isFree: true, responseId: undefined, polledBy: undefined, isReadBack };
  }
  const [creator, poller] = [taken.scope.gateway_key_id, scope.gateway_key_id];
  const polledBy = creator === poller ? undefined : poller;
  return { usage, scope: taken.scope, model: taken.model, isFree: false, responseId, polledBy, isReadBack: false };
}
