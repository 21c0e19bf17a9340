import { invariant } from '@vitrine/faults/invariant';
import type { Transaction } from '@vitrine/postgres/transaction';
import { momentOf, type DerivationContext, type LoggedObservation } from '../signals/derivation-context.ts';
import { compareMoments, type ConfirmedSignal, type DerivationState } from '../signals/derivation-state.ts';
import { deriveNext, type Derived } from '../signals/derive.ts';
import { replaysNeeded, reinterpretWithRules } from '../signals/reinterpret-with-rules.ts';
import type { RemovalHold } from './known-store.ts';
import type { Observation } from '../observation/observation-facts.ts';
import { readReplays, readRuleIds, replayEvidence, replayKey, type Replays, type Rules } from './rule-sets.ts';

/** Observations in memory at once, which take a few megabytes. */
const PAGE = 100;

const SELECT_PAGE = `SELECT id, completed_at, registry_checksum, facts FROM observations
  WHERE storefront_id = $1 AND (completed_at, id) > ($2, $3) ORDER BY completed_at, id LIMIT ${PAGE}`;
const SELECT_CHECKSUMS = 'SELECT DISTINCT registry_checksum FROM observations WHERE storefront_id = $1';
const SELECT_HOLDS = 'SELECT slug, held_from AS "from", held_until AS until FROM removal_holds';

/** Derives a store again from its whole log, including an observation that is not in it yet, in the order of the log. Needed for a late
 *  observation, because the current state is its future. The result does not depend on the current time. */
export async function deriveStoredLog(
  transaction: Transaction,
  storefront_id: string,
  arrived: Observation,
  rules: Rules | undefined,
): Promise<Derived> {
  const replays = await readReplays(transaction, storefront_id);
  const replayed = arrived.evidence === undefined ? undefined : rules?.detect(arrived.evidence);
  if (replayed !== undefined && rules !== undefined) replays.set(replayKey(arrived.id, rules.registry_checksum), replayed);
  const checksums = await transaction.query<{ registry_checksum: string }>(SELECT_CHECKSUMS, [storefront_id]);
  const named = [...checksums.map((row) => row.registry_checksum), arrived.registry_checksum];
  const holds = await transaction.query<RemovalHold>(SELECT_HOLDS);
  const context: DerivationContext = {
    storefront_id,
    ruleIds: await readRuleIds(transaction, named),
    isHeld: heldBy(holds),
    replay: (id, checksum) => replays.get(replayKey(id, checksum)),
  };
  let state: DerivationState | undefined;
  const signals: ConfirmedSignal[] = [];
  for await (const observation of readLog(transaction, storefront_id, arrived)) {
    const { registry_checksum, facts } = observation;
    if (new Set(named).size > 1 && facts.condition === 'open')
      await replayEvidence(transaction, replaysNeeded(state, registry_checksum), registry_checksum, rules, replays);
    const derived = deriveNext(state, observation, context);
    state = derived.state;
    signals.push(...derived.signals);
  }
  invariant(state !== undefined, 'a log with an observation is not empty');
  // The store is not replayed again if its log ends under earlier rules than the current ones.
  return { state: rules === undefined ? state : await readUnderRules(transaction, state, rules, replays), signals };
}

/** A state under the current rules, as far as evidence was kept. */
export async function readUnderRules(
  transaction: Transaction,
  state: DerivationState,
  rules: Rules,
  replays: Replays,
): Promise<DerivationState> {
  const { registry_checksum } = rules;
  await replayEvidence(transaction, replaysNeeded(state, registry_checksum), registry_checksum, rules, replays);
  return reinterpretWithRules(state, registry_checksum, { replay: (id, checksum) => replays.get(replayKey(id, checksum)) });
}

export function heldBy(holds: readonly RemovalHold[]): DerivationContext['isHeld'] {
  return (slug, at) => holds.some((hold) => hold.slug === slug && hold.from <= at && at < hold.until);
}

/** The log in order, with one observation inserted. */
async function* readLog(
  transaction: Transaction,
  storefront_id: string,
  arrived: LoggedObservation,
): AsyncGenerator<LoggedObservation> {
  let waiting: LoggedObservation | undefined = arrived;
  let after = { at: 0, observation_id: '' };
  for (;;) {
    const page = await transaction.query<LoggedObservation>(SELECT_PAGE, [
      storefront_id,
      new Date(after.at),
      after.observation_id,
    ]);
    for (const observation of page) {
      if (waiting !== undefined && compareMoments(momentOf(waiting), momentOf(observation)) < 0) {
        yield waiting;
        waiting = undefined;
      }
      yield observation;
      after = momentOf(observation);
    }
    if (page.length < PAGE) break;
  }
  if (waiting !== undefined) yield waiting;
}
