import type { Sighting } from '../observation/observation-facts.ts';
import type { PlatformState, Signal, StoreState, TechnologyState } from '../profile/store-state.ts';
import type { ObservationScope } from '../resources/enumerations.ts';

/** A place in the log of a store. */
export interface Moment {
  readonly observation_id: string;
  readonly at: number;
}

/** Where, and by which rules, something was last seen. */
export interface LastSighting extends Moment {
  readonly scope: ObservationScope;
  readonly registry_checksum: string;
  /** Platform of the store at that time. */
  readonly platform: string | null;
  readonly places: readonly Sighting[];
}

/** Consecutive comparable observations that do not show something. */
export interface Misses {
  readonly count: number;
  readonly first: Moment;
}

export interface TrackedTechnology extends TechnologyState {
  readonly sighting: LastSighting;
  readonly misses: Misses | null;
  /** No longer detected by the current rules where it was last seen: it is not shown, and a later sighting is no addition. */
  readonly is_retracted: boolean;
}

export interface TrackedPlatform extends PlatformState {
  readonly sighting: LastSighting;
  /** Another platform that was seen once in place of this one. */
  readonly successor: { readonly slug: string; readonly first: Moment } | null;
}

/** What an open observation could show and did: later sightings are additions only against these. */
export interface Coverage extends Moment {
  readonly scope: ObservationScope;
  /** The domain that was scanned, which is another one after a move; missing where an earlier version wrote the state. */
  readonly domain?: string;
  readonly registry_checksum: string;
  readonly pages: Readonly<Record<string, readonly string[]>>;
  readonly seen: readonly string[];
  readonly withheld: readonly string[];
}

/** Scans in a row in which the domain redirected permanently to another. */
export interface Redirect {
  readonly domain: string;
  readonly count: number;
}

type Identity = 'domain' | 'storefront_id' | 'brand_group_id';

/** What the log of a store adds up to, bounded by the registry and not by the length of the log; kept as JSON. */
export interface DerivationState extends Omit<StoreState, Identity | 'platform' | 'technologies'> {
  readonly version: 1;
  /** The last observation in it. */
  readonly last: Moment;
  /** The rules by which technologies and coverages were last read; missing before the first open page, and where an earlier version wrote it. */
  readonly registry_checksum?: string;
  readonly platform: TrackedPlatform | null;
  readonly technologies: readonly TrackedTechnology[];
  /** Consecutive scans that showed no storefront. */
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

/** The state as it is shown and stored in columns. */
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
