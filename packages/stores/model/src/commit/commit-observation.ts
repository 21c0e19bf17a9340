import type { Transaction } from '@vitrine/postgres/transaction';
import { type PublicUrls, renderProfile, type RenderedProfile } from '../profile/render-profile.ts';
import { finishScanJob } from '../scans/finish-scan-job.ts';
import { momentOf, type DerivationContext } from '../signals/derivation-context.ts';
import { compareMoments, storeStateOf, type ConfirmedSignal, type DerivationState } from '../signals/derivation-state.ts';
import { deriveNext, type Derived } from '../signals/derive.ts';
import { replaysNeeded } from '../signals/reinterpret-with-rules.ts';
import { brandFactsOf } from '../brands/brand-facts.ts';
import { findBrandGroup, joinBrandGroup, saveBrandFacts } from './brand-groups.ts';
import { deriveStoredLog, heldBy } from './derive-stored-log.ts';
import { lockDomain, readKnownStore, type KnownStore, type RemovalHold } from './known-store.ts';
import type { Observation } from '../observation/observation-facts.ts';
import { moveStorefront } from './move-storefront.ts';
import { recordLosses } from './removal-breaker.ts';
import { readRuleIds, replayEvidence, replayKey, saveRuleSet, type Replays, type Rules } from './rule-sets.ts';
import { readRecentSignals, readSignalIds, readStoreState, shareProfile, withdrawSignals, writeStore } from './store-rows.ts';

export interface CommitContext {
  readonly urls: PublicUrls;
  /** Used for a domain without one. */
  readonly createStorefrontId: () => string;
  /** Undefined if nothing can be detected, as in the demo. Then other rules are never comparable. */
  readonly rules?: Rules;
}

/** The effects of an observation. */
export interface CommittedObservation {
  readonly storefront_id: string;
  /** `late`: later observations were already stored, so the log was derived again; `repeated`: it was already stored, and nothing changed. */
  readonly arrival: 'first' | 'next' | 'late' | 'repeated';
  /** Undefined if it is not a store. */
  readonly profile: RenderedProfile | undefined;
  /** New signals. */
  readonly signals: readonly ConfirmedSignal[];
  /** Removals that were not confirmed because those of their technology are held; each once. Not reported for a late observation. */
  readonly held: readonly Pick<ConfirmedSignal, 'type' | 'technology'>[];
  /** Technologies whose removals are held from this observation on. */
  readonly holds: readonly string[];
  /** Signals that a late observation disproved. */
  readonly withdrawn: readonly Pick<ConfirmedSignal, 'type'>[];
}

/** Writes an observation, the resulting state, signals and profile in the caller's transaction, and completes its scan job. Commits of one domain
 *  wait for each other. Spec: S1.2 to S1.4, S3.31, S9.13. */
export async function commitObservation(
  transaction: Transaction,
  observation: Observation,
  context: CommitContext,
): Promise<CommittedObservation> {
  await lockDomain(transaction, observation.facts.domain);
  const known = await readKnownStore(transaction, observation);
  const { scan_job_id: id, completed_at: at } = observation;
  if (id !== null) await finishScanJob(transaction, { id, status: 'completed', error: null });
  const storefront_id = known.storefront_id ?? context.createStorefrontId();
  if (known.is_logged) return { storefront_id, arrival: 'repeated', profile: undefined, ...NOTHING };
  const { rules } = context;
  if (!known.has_rule_set && rules?.registry_checksum === observation.registry_checksum) await saveRuleSet(transaction, rules);

  const arrival = arrivalOf(known, observation);
  const isLate = arrival === 'late';
  const { state, signals, held, holds }: Change = isLate
    ? { ...(await deriveStoredLog(transaction, storefront_id, observation, rules)), held: [], holds: [] }
    : await deriveInOrder(transaction, { ...known, storefront_id }, observation, rules);
  const domain = known.domain ?? observation.facts.domain;
  // The statements of a late one may be out of date.
  const brandFacts = isLate ? undefined : brandFactsOf(storefront_id, domain, observation.facts);
  const brand = brandFacts && (await findBrandGroup(transaction, brandFacts, known.brand_group_id, at));
  const brand_group_id = brand?.brand_group_id ?? known.brand_group_id;
  const shown = storeStateOf(state, { domain, storefront_id, brand_group_id });
  const recent = isLate ? signals : [...known.recent_signals, ...signals];
  const profile = shown.is_ecommerce ? renderProfile(shown, recent, context.urls) : undefined;
  const before = new Set(isLate ? await readSignalIds(transaction, storefront_id) : []);
  await writeStore(transaction, {
    state: shown,
    first_observed_at: at,
    last_observation_id: state.last.observation_id,
    derivation: state,
    profile,
    observation,
    signals,
  });
  const confirmed = signals.map((signal) => signal.id);
  const withdrawn = isLate ? await withdrawSignals(transaction, storefront_id, confirmed, at) : [];
  if (brandFacts !== undefined) await saveBrandFacts(transaction, brandFacts);
  if (known.moved_to !== null) await shareProfile(transaction, storefront_id, observation.facts.condition === 'open');
  else if (!isLate) {
    const to = await moveStorefront(transaction, { domain, storefront_id, redirect: state.redirect });
    if (to !== undefined) await renderLocked(transaction, to, context.urls);
  }
  for (const other of brand?.others ?? [])
    if (await joinBrandGroup(transaction, other, brand?.brand_group_id ?? ''))
      await renderLocked(transaction, other, context.urls);
  const added = signals.filter((signal) => !before.has(signal.id));
  return { storefront_id, arrival, profile, signals: added, held, holds, withdrawn };
}

function arrivalOf({ derivation, last_completed_scan_at }: KnownStore, observation: Observation): 'first' | 'next' | 'late' {
  if (last_completed_scan_at === null) return 'first';
  return derivation === null || compareMoments(momentOf(observation), derivation.last) < 0 ? 'late' : 'next';
}

const NOTHING = { signals: [], held: [], holds: [], withdrawn: [] };

type Change = Derived & Pick<CommittedObservation, 'held' | 'holds'>;

async function deriveInOrder(
  transaction: Transaction,
  known: KnownStore & { readonly storefront_id: string },
  observation: Observation,
  rules: Rules | undefined,
): Promise<Change> {
  const { storefront_id } = known;
  const before = known.derivation ?? undefined;
  const replays: Replays = new Map();
  const { registry_checksum } = observation;
  const needed = observation.facts.condition === 'open' ? replaysNeeded(before, registry_checksum) : [];
  await replayEvidence(transaction, needed, registry_checksum, rules, replays);
  const ruleIds = await readRuleIds(transaction, [registry_checksum, ...registriesOf(before)]);
  const deriveWith = (holds: readonly RemovalHold[]) => {
    const isHeld = heldBy(holds);
    const context: DerivationContext = {
      storefront_id,
      ruleIds,
      isHeld,
      replay: (id, checksum) => replays.get(replayKey(id, checksum)),
    };
    return deriveNext(before, observation, context);
  };
  // A previously held loss counts on its own day. Holds are ignored, because a held removal is also a loss.
  const heldBefore = new Set(before?.technologies.filter(({ misses }) => (misses?.count ?? 0) >= 3).map(({ slug }) => slug));
  const lost = deriveWith([])
    .signals.filter(({ type }) => type === 'technology_removed')
    .flatMap(({ technology }) => (technology === null || heldBefore.has(technology) ? [] : [technology]));
  const isHeldNow = heldBy(known.holds);
  const counted = lost.filter((slug) => !isHeldNow(slug, observation.completed_at));
  const begun = await recordLosses(transaction, { slugs: counted, storefront_id, at: observation.completed_at });
  const holds = [...known.holds, ...begun];
  const isHeld = heldBy(holds);
  const held = lost
    .filter((slug) => isHeld(slug, observation.completed_at))
    .map((technology) => ({ type: 'technology_removed' as const, technology }));
  return { ...deriveWith(holds), held, holds: begun.map(({ slug }) => slug) };
}

function registriesOf(state: DerivationState | undefined): string[] {
  const sightings = state?.technologies.map(({ sighting }) => sighting) ?? [];
  const platform = state?.platform ? [state.platform.sighting] : [];
  return [...(state?.coverages ?? []), ...sightings, ...platform].map(({ registry_checksum }) => registry_checksum);
}

/** The current domain of a store, by a former one. */
const SELECT_DOMAIN = `SELECT kept.domain FROM stores s JOIN stores kept ON kept.storefront_id = coalesce(s.moved_to, s.storefront_id)
  WHERE s.domain = $1`;

/** Renders the profile of a store again, for other URLs or names. Resolves to false when it has none. */
export async function renderStoredProfile(transaction: Transaction, domain: string, urls: PublicUrls): Promise<boolean> {
  const [row] = await transaction.query<{ domain: string }>(SELECT_DOMAIN, [domain]);
  if (row === undefined) return false;
  await lockDomain(transaction, row.domain);
  return renderLocked(transaction, row.domain, urls);
}

async function renderLocked(transaction: Transaction, domain: string, urls: PublicUrls): Promise<boolean> {
  const select = 'SELECT storefront_id FROM stores WHERE domain = $1 AND moved_to IS NULL';
  const [row] = await transaction.query<{ storefront_id: string }>(select, [domain]);
  const state = row && (await readStoreState(transaction, row.storefront_id));
  if (state?.is_ecommerce !== true) return false;
  const profile = renderProfile(state, await readRecentSignals(transaction, state.storefront_id), urls);
  const text = `UPDATE stores SET profile = $2, profile_hash = $3, is_ecommerce = true, last_completed_scan_at = $4
    WHERE storefront_id = $1 OR moved_to = $1`;
  const at = new Date(state.observation.last_completed_scan_at);
  await transaction.execute(text, [state.storefront_id, profile.text, profile.hash, at]);
  return true;
}
