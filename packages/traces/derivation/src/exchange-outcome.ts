import type { BodyFacts } from './body-facts.ts';
import type { CapturedExchange } from './captured-exchange.ts';
import type { Outcome } from '@vitrine/traces/trace';

/** How an exchange ended, by the facts of its response (undefined if none could be read). An error event makes a stream of status 200 a failure. A
 *  client that leaves after the provider's last event has received everything; the official SDKs leave there. */
export function outcomeOf({ outcome }: Pick<CapturedExchange, 'outcome'>, facts: BodyFacts | undefined): Outcome {
  if (outcome === 'completed' && facts?.streamError === true) return 'upstream_error';
  return outcome === 'client_closed' && facts?.ended === true ? 'completed' : outcome;
}

/** The status in traces and metrics: that sent to the client; 499 when it left first, 502 and 504 when the provider failed, even after a response
 *  had begun. `outcome` is that of `outcomeOf`. Spec: G4.7, G4.8. */
export function statusOf(
  { outcome: ending, sentStatus }: Pick<CapturedExchange, 'outcome' | 'sentStatus'>,
  outcome: Outcome,
): number {
  if (outcome === 'client_closed') return 499;
  if (outcome === 'timeout') return 504;
  return ending === 'upstream_error' ? 502 : sentStatus;
}
