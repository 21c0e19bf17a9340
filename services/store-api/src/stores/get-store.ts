import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { canonicalDomain } from '@vitrine/stores/canonical-domain';
import { runMeteredRead, type MeteredResult } from '@vitrine/stores/metering/run-metered';
import { rejection, type ApiRequest, type ApiResponse, type ApiResult } from '../contract/operation.ts';
import { errorBody } from '../contract/error-codes.ts';
import { getStore } from '../contract/served-operations.ts';
import { runMeteredRequest } from '../metering/run-metered-request.ts';
import type { StoreResponse } from '@vitrine/stores/resources/store';

const NOT_FOUND = 'There is no profile of this domain; the site may still be a store.';
/** A denied domain has no profile, and neither has a domain whose storefront has moved to a denied one. */
const READ = `SELECT profile, profile_hash, last_completed_scan_at FROM stores s WHERE domain = $1 AND profile IS NOT NULL
  AND NOT EXISTS (SELECT FROM domain_denylist d WHERE d.domain = s.domain)
  AND (moved_to IS NULL OR NOT EXISTS (SELECT FROM stores t JOIN domain_denylist d ON d.domain = t.domain WHERE t.storefront_id = s.moved_to))`;

/** `GET /v1/stores/{domain}`: one `lookup_cached` for a profile, nothing otherwise. */
export async function respondWithStore(pool: PostgresPool, request: ApiRequest, caller: AuthenticatedKey): Promise<ApiResult> {
  const { id, params, idempotencyKey, ifNoneMatch, receivedAt } = request;
  const input = params['domain'];
  const domain = input === undefined ? undefined : canonicalDomain(input);
  if (domain === undefined && idempotencyKey === undefined) return rejection('not_found', NOT_FOUND);
  const canonical = {
    operationId: getStore.operationId,
    path: `/v1/stores/${domain ?? input}`,
    domains: domain === undefined ? [] : [domain],
  };
  return runMeteredRequest(runMeteredRead, pool, request, canonical, async (database) => {
    if (domain === undefined) return notFound(id);
    const [found] = await database.query<StoredProfile>(READ, [domain], { name: 'read_profile' });
    if (found === undefined) return notFound(id);
    const match = matchOf(found.last_completed_scan_at, caller.plan.limits.freshnessDays, receivedAt);
    const { body, etag } = composeStoreResponse(found, match);
    // Not stored for replays and not billed, because nothing of the request may remain.
    if (isNotModified(ifNoneMatch, etag)) throw notModified(etag);
    return { response: { status: 200, etag, body }, entries: [{ domain, unit: 'lookup_cached' }] };
  });
}

/** Stored for replays, with the id of this request. */
function notFound(requestId: string): MeteredResult {
  const body = JSON.stringify(errorBody('not_found', NOT_FOUND, requestId));
  return { response: { status: 404, etag: null, body }, entries: [] };
}

/** Thrown as an Error to roll the transaction back. */
function notModified(etag: string): Error & ApiResponse {
  return Object.assign(new Error('not modified'), {
    kind: 'response',
    status: 304,
    body: undefined,
    headers: ['ETag', etag, 'Cache-Control', 'private, no-cache', 'Vary', 'Accept-Encoding'],
  } as const);
}

const DAY_MS = 86_400_000;

/** A store row. The profile is a string that is never parsed. */
interface StoredProfile {
  readonly profile: string;
  readonly profile_hash: string;
  /** Milliseconds since the epoch. */
  readonly last_completed_scan_at: number;
}

/** Whether a store is fresh for a plan. Spec: S2.12, S2.23. */
function matchOf(lastScanAt: number, freshnessDays: number, now: number): StoreResponse['match'] {
  return now - lastScanAt > freshnessDays * DAY_MS ? 'stale' : 'matched';
}

/** The body and weak ETag of StoreResponse, with the stored profile inserted. The compressed body has the same ETag. */
function composeStoreResponse({ profile, profile_hash }: StoredProfile, match: StoreResponse['match']) {
  return { body: `{"match":"${match}","store":${profile}}`, etag: `W/"${match}-${profile_hash}"` };
}

/** Whether one of the entity tags of If-None-Match is `etag`, by the weak comparison (RFC 9110, 13.1.2). */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim());
  return tags.includes('*') || tags.some((tag) => opaqueTag(tag) === opaqueTag(etag));
}

const opaqueTag = (tag: string) => tag.replace(/^W\//, '');
