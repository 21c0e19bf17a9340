import type { StoreResponse } from '@vitrine/stores/resources/store';

const DAY_MS = 86_400_000;

/** A store as its row has it: the profile is text that is never parsed. */
export interface StoredProfile {
  readonly profile: string;
  readonly profile_hash: string;
  /** Milliseconds since the epoch. */
  readonly last_completed_scan_at: number;
}

/** Whether a store is fresh for a plan. Spec: S2.12, S2.23. */
export function matchOf(lastScanAt: number, freshnessDays: number, now: number): StoreResponse['match'] {
  return now - lastScanAt > freshnessDays * DAY_MS ? 'stale' : 'matched';
}

/** The body and the weak ETag, which a compressed body has too, of StoreResponse, around the profile as it is stored. */
export function composeStoreResponse({ profile, profile_hash }: StoredProfile, match: StoreResponse['match']) {
  return { body: `{"match":"${match}","store":${profile}}`, etag: `W/"${match}-${profile_hash}"` };
}

/** Whether one of the entity tags of If-None-Match is `etag`, by the weak comparison (RFC 9110, 13.1.2). */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim());
  return tags.includes('*') || tags.some((tag) => opaqueTag(tag) === opaqueTag(etag));
}

const opaqueTag = (tag: string) => tag.replace(/^W\//, '');
