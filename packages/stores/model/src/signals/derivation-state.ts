import type { Sighting } from '../observation/observation-facts.ts';
import type { PlatformState, Signal, StoreState, TechnologyState } from '../profile/store-state.ts';
import type { ObservationScope } from '../resources/enumerations.ts';

/** A position in the log of a store. */
export interface Moment {
  readonly observation_id: string;
  readonly at: number;
}

/** The place and the rules of a last sighting. */
export interface LastSighting extends Moment {
  readonly scope: ObservationScope;
  readonly registry_checksum: string;
  /** Platform of the store at that time. */
  readonly platform: string | null;
  readonly places: readonly Sighting[];
}

/** Number of consecutive comparable observations without a sighting. */
export interface Misses {
  readonly count: number;
  readonly first: Moment;
}

export interface TrackedTechnology extends TechnologyState {
  readonly sighting: LastSighting;
  readonly misses: Misses | null;
  /** No longer detected by the current rules where it was last seen. It is not shown, and a later sighting is not an addition. */
  readonly is_retracted: boolean;
}

export interface TrackedPlatform extends PlatformState {
  readonly sighting: LastSighting;
  /** Another platform that was seen once instead of this one. */
  readonly successor: { readonly slug: string; readonly first: Moment } | null;
}

/** The scope and content of open observations. Later sightings are additions only relative to these. */
export interface Coverage extends Moment {
  readonly scope: ObservationScope;
  /** The scanned domain, which changes with a move; missing in states of earlier versions. */
  readonly domain?: string;
  readonly registry_checksum: string;
  readonly pages: Readonly<Record<string, readonly string[]>>;
  readonly seen: readonly string[];
  readonly withheld: readonly string[];
}

/** Consecutive scans in which the domain redirected permanently to another. */
export interface Redirect {
  readonly domain: string;
  readonly count: number;
}

type Identity = 'domain' | 'storefront_id' | 'brand_group_id';

/** The derived state of a store's log, bounded by the registry and not by the length of the log; stored as JSON. */
export interface DerivationState extends Omit<StoreState, Identity | 'platform' | 'technologies'> {
  readonly version: 1;
  /** The last observation included. */
  readonly last: Moment;
  /** The rules of the last reading of technologies and coverages; missing before the first open page and in states of earlier versions. */
  readonly registry_checksum?: string;
  readonly platform: TrackedPlatform | null;
  readonly technologies: readonly TrackedTechnology[];
  /** Number of consecutive scans without a storefront. */
  readonly absence: Misses | null;
  readonly coverages: readonly Coverage[];
  readonly redirect: Redirect | null;
}

/** A signal and the observation that confirmed it. */
export interface ConfirmedSignal extends Signal {
  readonly observation_id: string;
}

/** The order of a log: by completion, then id. Negative when `a` is before `b`. */
export function compareMoments(a: Moment, b: Moment): number {
  if (a.at !== b.at) return a.at - b.at;
  return a.observation_id < b.observation_id ? -1 : Number(a.observation_id > b.observation_id);
}

/** The state in the form shown and stored in columns. */
export function storeStateOf(derived: DerivationState, identity: Pick<StoreState, Identity>): StoreState {
  const { version: _v, last: _l, registry_checksum: _r, absence: _a, coverages: _c, redirect: _d, ...state } = derived;
  return {
    ...identity,
    ...state,
    platform: state.platform && platformOf(state.platform),
    technologies: state.technologies.filter(({ is_retracted }) => !is_retracted).map(technologyOf),
  };
}

function platformOf({ sighting: _sighting, successor: _successor, ...platform }: TrackedPlatform) {
  return platform;
}

function technologyOf({ sighting: _sighting, misses: _misses, is_retracted: _retracted, ...technology }: TrackedTechnology) {
  return technology;
}
