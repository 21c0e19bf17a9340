import type { TokenHash } from '@vitrine/credentials/token-hashes';
import type { PlanLimits } from '@vitrine/plans/plan-limits';
import type { Queryable } from '@vitrine/postgres/connection';
import { DEFAULT_PLAN_LIMITS } from '../default-plan-limits.ts';
import type { UnitCounts } from '../resources/billing.ts';
import type { PlanSlug, Scope } from '../resources/enumerations.ts';

/** Spec: S6.3. */
const WINDOW_MS = 60_000;
/** The slots of a dead process's requests are free after this time. Requests end after 10 s. Spec: S6.2. */
const LEASE_MS = 15_000;
const DEFAULT_LIMITS = JSON.stringify(DEFAULT_PLAN_LIMITS);

/** The key of a request, its workspace, plan and minute. */
export interface AuthenticatedKey {
  readonly key: {
    readonly id: string;
    readonly label: string;
    readonly prefix: string;
    readonly environment: 'live' | 'test';
    readonly scopes: readonly Scope[];
    readonly expires_at: number | null;
  };
  readonly workspace: { readonly id: string; readonly name: string };
  readonly plan: { readonly slug: PlanSlug; readonly limits: PlanLimits };
  readonly period: { readonly starts_at: number; readonly ends_at: number; readonly used: UnitCounts };
  /** Remaining requests of the current minute after this one. */
  readonly requests_left: number;
  readonly window_ends_in_ms: number;
}

export type Admission =
  | ({ readonly outcome: 'admitted' | 'rate_limited' | 'forbidden_scope' | 'concurrency_limited' } & AuthenticatedKey)
  | { readonly outcome: 'unknown_key' | 'revoked_key' | 'expired_key' };

interface AdmissionRequest {
  /** The hashes under which the token may be stored. */
  readonly token: readonly TokenHash[];
  /** Undefined if any key is allowed. */
  readonly scope: Scope | undefined;
  /** Id of the slot that an admitted request uses until `releaseRequest`. */
  readonly lease_id: string;
}

/** The times of a window and of a lease. Other values than the defaults are for tests. */
export interface AdmissionTimes {
  readonly windowMs?: number;
  readonly leaseMs?: number;
}

type AdmissionRow = Omit<AuthenticatedKey['key'], 'id'> &
  UnitCounts & {
    readonly outcome: Admission['outcome'];
    readonly key_id: string;
    readonly workspace_id: string;
    readonly workspace_name: string;
    readonly plan: PlanSlug;
    readonly limits: PlanLimits;
    readonly requests_left: number;
    readonly window_ends_in_ms: number;
    readonly period_starts_at: number;
    readonly period_ends_at: number;
  };

/** Authenticates and admits a request in one round trip; limits apply across all replicas. Not cached, so a revocation applies from the next
 *  request on. Spec: S5.9, S6.1. */
export async function admitRequest(
  database: Queryable,
  { token, scope, lease_id }: AdmissionRequest,
  { windowMs = WINDOW_MS, leaseMs = LEASE_MS }: AdmissionTimes = {},
): Promise<Admission> {
  const values = [token.map(({ token_mac }) => token_mac), scope ?? null, lease_id, DEFAULT_LIMITS, windowMs, leaseMs];
  const text = 'SELECT * FROM admit_request($1, $2, $3, $4, $5, $6)';
  const [row] = await database.query<AdmissionRow>(text, values, { name: 'admit_request' });
  return row === undefined ? { outcome: 'unknown_key' } : admissionOf(row);
}

/** Frees the slot of a request that has ended. */
export async function releaseRequest(database: Queryable, keyId: string, leaseId: string): Promise<void> {
  const text = `UPDATE request_leases SET expires_at = '-infinity' WHERE key_id = $1 AND lease_id = $2`;
  await database.execute(text, [keyId, leaseId], { name: 'release_request' });
}

function admissionOf(row: AdmissionRow): Admission {
  const { outcome, label, prefix, environment, scopes, expires_at, requests_left, window_ends_in_ms } = row;
  if (outcome === 'unknown_key' || outcome === 'revoked_key' || outcome === 'expired_key') return { outcome };
  const { lookup_cached, lookup_live, history_query, refresh_requested } = row;
  return {
    outcome,
    key: { id: row.key_id, label, prefix, environment, scopes, expires_at },
    workspace: { id: row.workspace_id, name: row.workspace_name },
    plan: { slug: row.plan, limits: row.limits },
    period: {
      starts_at: row.period_starts_at,
      ends_at: row.period_ends_at,
      used: { lookup_cached, lookup_live, history_query, refresh_requested },
    },
    requests_left,
    window_ends_in_ms,
  };
}

/** The identity by which requests are bounded before they get a connection. */
export interface KeyIdentity {
  readonly key_id: string;
  readonly workspace_id: string;
  /** The plan's value when last read. */
  readonly concurrency: number;
}

interface RefusedKey {
  readonly outcome: 'unknown_key' | 'revoked_key' | 'expired_key';
}

type ValidKey = { readonly outcome: 'valid' } & KeyIdentity;
export type KeyLookup = ValidKey | RefusedKey;

const IDENTIFY = `SELECT CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked_key' WHEN k.expires_at <= clock_timestamp() THEN 'expired_key'
    ELSE 'valid' END AS outcome, k.id AS key_id, k.workspace_id, k.pepper_version, (coalesce(p.limits, $2::jsonb -> w.plan) ->> 'concurrency')::integer AS concurrency
  FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id LEFT JOIN plans p ON p.name = w.plan WHERE k.token_mac = ANY ($1)`;
/** `pepper_version`: of the stored hash. */
type StoredKeyLookup = (ValidKey & { readonly pepper_version: number }) | RefusedKey;

/** The owner of a token, before the first admission of its key in a process. It takes no lock, so that locked rows of a workspace delay no other
 *  workspace. `token`: the hashes under which the token may be stored. */
export async function identifyKey(database: Queryable, token: readonly TokenHash[]): Promise<StoredKeyLookup> {
  const values = [token.map(({ token_mac }) => token_mac), DEFAULT_LIMITS];
  const [row] = await database.query<StoredKeyLookup>(IDENTIFY, values, { name: 'identify_key' });
  if (row === undefined) return { outcome: 'unknown_key' };
  return row.outcome === 'valid' ? row : { outcome: row.outcome };
}
