import { momentOf, type DerivationContext, type LoggedObservation } from '../signals/derivation-context.ts';
import { compareMoments } from '../signals/derivation-state.ts';
import { deriveNext, type Derived } from '../signals/derive.ts';

/** The derived state of a log, for any order and repetition of its entries; undefined without entries. */
export function deriveLog(log: readonly LoggedObservation[], context: DerivationContext): Derived | undefined {
  const entries = [...new Map(log.map((observation) => [observation.id, observation])).values()];
  entries.sort((a, b) => compareMoments(momentOf(a), momentOf(b)));
  let derived: Derived | undefined;
  for (const observation of entries) {
    const { state, signals } = deriveNext(derived?.state, observation, context);
    derived = { state, signals: [...(derived?.signals ?? []), ...signals] };
  }
  return derived;
}
