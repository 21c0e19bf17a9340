import type { StoreStatus } from '../resources/enumerations.ts';
import { confirmSignal, momentOf, type DerivationContext, type LoggedObservation } from './derivation-context.ts';
import type { ConfirmedSignal, DerivationState, Misses } from './derivation-state.ts';
import { platformsOf } from './track-platform.ts';

/** Spec: S9.5. */
const SCANS_TO_INACTIVITY = 2;
const LEVEL: Readonly<Record<StoreStatus, number>> = {
  inactive: 0,
  candidate: 1,
  reachable: 2,
  verified_ecommerce: 3,
  active_storefront: 4,
};

type Before = Pick<DerivationState, 'status' | 'absence' | 'is_ecommerce'>;

interface Tracked extends Before {
  readonly signals: readonly ConfirmedSignal[];
}

/** The status of a store after a completed observation. It rises at once, and falls after two consecutive scans without a storefront. Facts
 *  outside a scan's coverage are not a sign of absence. Spec: S9.5, S9.14, S9.15. */
export function trackStatus(before: Before | undefined, observation: LoggedObservation, context: DerivationContext): Tracked {
  const { facts, completed_at } = observation;
  const showsCommerce = facts.condition !== 'redirected' && (facts.shows_commerce || facts.shows_products);
  const is_ecommerce = before?.is_ecommerce === true || showsCommerce;
  const state = before?.status.state ?? 'candidate';
  const shown = statusShown(observation, is_ecommerce);
  const signals: ConfirmedSignal[] = [];
  const confirm = (type: ConfirmedSignal['type'], first = momentOf(observation)) =>
    signals.push(confirmSignal(context, observation, { type, first, confidence: confidenceOf(observation) }));
  if (is_ecommerce && before?.is_ecommerce !== true) confirm('store_first_observed');

  const isAbsence = showsAbsence(observation, shown);
  const absence = shown !== undefined ? null : isAbsence ? missAfter(before?.absence, observation) : (before?.absence ?? null);
  if (isAbsence && absence !== null && absence.count >= SCANS_TO_INACTIVITY) {
    if (state === 'active_storefront') confirm('store_became_inactive', absence.first);
    return { status: { state: 'inactive', as_of: completed_at }, absence, is_ecommerce, signals };
  }
  if (shown !== undefined && LEVEL[shown] >= LEVEL[state]) {
    if (shown === 'active_storefront' && state !== shown) confirm('store_became_active');
    return { status: { state: shown, as_of: completed_at }, absence, is_ecommerce, signals };
  }
  const kept = state === 'candidate' ? { state: 'reachable' as const, as_of: completed_at } : before?.status;
  return { status: kept ?? { state, as_of: completed_at }, absence, is_ecommerce, signals };
}

/** The status shown by the observation; undefined if it shows no storefront. */
function statusShown(observation: LoggedObservation, isEcommerce: boolean): StoreStatus | undefined {
  const { condition, shows_products, shows_commerce } = observation.facts;
  if (condition !== 'open') return undefined;
  if (shows_products) return 'active_storefront';
  const hasPlatform = platformsOf(observation).some(({ confidence }) => confidence !== 'low');
  if (shows_commerce || hasPlatform) return 'verified_ecommerce';
  return isEcommerce ? undefined : 'reachable';
}

/** Whether the scan shows that there is no storefront. An open page without commerce shows it when everything was read. */
function showsAbsence({ facts }: LoggedObservation, shown: StoreStatus | undefined): boolean {
  const { condition, scope } = facts;
  if (condition === 'open') return shown === undefined && scope === 'full';
  return condition !== 'redirected';
}

function missAfter(absence: Misses | null | undefined, observation: LoggedObservation): Misses {
  const count = Math.min(SCANS_TO_INACTIVITY, (absence?.count ?? 0) + 1);
  return { count, first: absence?.first ?? momentOf(observation) };
}

/** The confidence of the observation about the whole store: that of its platform. A page that declares itself closed is certain. */
function confidenceOf(observation: LoggedObservation): ConfirmedSignal['confidence'] {
  const { condition, shows_products } = observation.facts;
  if (condition !== 'open') return 'high';
  return platformsOf(observation)[0]?.confidence ?? (shows_products ? 'medium' : 'low');
}
