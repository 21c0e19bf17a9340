import type { Transaction } from '@vitrine/postgres/transaction';
import { createHash } from 'node:crypto';

/** Spec: S3.9, S6.18. */
const WINDOW = `interval '24 hours'`;
/** A domain may have been denied while the response was created. */
const OVERLAP = `interval '1 minute'`;

/** A response stored for replays; `request_id` is that of its `X-Request-Id`. */
export interface StoredResponse {
  readonly request_id: string;
  readonly status: number;
  readonly etag: string | null;
  readonly body: string;
}

/** A response before it is stored; `body` may be UTF-8. */
export type NewResponse = Omit<StoredResponse, 'request_id' | 'body'> & { readonly body: string | Uint8Array };

export interface IdempotentRequest {
  readonly workspace_id: string;
  readonly idempotency_key: string;
  readonly fingerprint: Uint8Array;
  readonly request_id: string;
  /** Canonical domains that the response may contain. */
  readonly domains: readonly string[];
}

/** `denied_since`: the stored response may show a domain that was put on the denylist later. */
type IdempotencyClaim =
  | { readonly kind: 'claimed' | 'conflict' | 'denied_since' }
  | { readonly kind: 'replay'; readonly response: StoredResponse };

/** Equal for equivalent requests: `path` and `body` are canonical, defaults are filled in. Spec: S6.13. */
export function requestFingerprint(operationId: string, path: string, body: unknown): Uint8Array {
  return createHash('sha256')
    .update(JSON.stringify([operationId, path, body ?? null]))
    .digest();
}

/** A row that is older than the window is taken over. */
const CLAIM = `INSERT INTO idempotency_keys AS i (workspace_id, idempotency_key, fingerprint, request_id, created_at)
  VALUES ($1, $2, $3, $4, now())
  ON CONFLICT (workspace_id, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint, request_id = excluded.request_id,
    created_at = excluded.created_at, status = NULL, etag = NULL, body = NULL WHERE i.created_at <= now() - ${WINDOW}
  RETURNING TRUE AS claimed`;
const FIND = `SELECT fingerprint, request_id, status, etag, body, EXISTS (
    SELECT FROM domain_denylist d WHERE d.created_at > i.created_at - ${OVERLAP} AND (d.domain = ANY ($3) OR d.domain IN (
      SELECT t.domain FROM stores s JOIN stores t ON t.storefront_id = s.moved_to WHERE s.domain = ANY ($3)))) AS is_denied_since
  FROM idempotency_keys i WHERE workspace_id = $1 AND idempotency_key = $2`;

type FoundRow = StoredResponse & { readonly fingerprint: Buffer; readonly is_denied_since: boolean };

/** Claims a key for the caller's transaction, or finds the response of the request that had it. While another transaction has the key it waits for
 *  its end. If that one fails, nothing of it remains and the key is claimed here. */
export async function claimIdempotencyKey(transaction: Transaction, request: IdempotentRequest): Promise<IdempotencyClaim> {
  const { workspace_id, idempotency_key, fingerprint, request_id, domains } = request;
  const values = [workspace_id, idempotency_key, fingerprint, request_id];
  if ((await transaction.query(CLAIM, values, { name: 'claim_idempotency_key' })).length > 0) return { kind: 'claimed' };
  const [found] = await transaction.query<FoundRow>(FIND, [workspace_id, idempotency_key, domains]);
  if (found === undefined || !found.fingerprint.equals(fingerprint)) return { kind: 'conflict' };
  const { fingerprint: _, is_denied_since, ...response } = found;
  if (is_denied_since) return { kind: 'denied_since' };
  return { kind: 'replay', response };
}

/** Stores the response of the request that has claimed the key. */
export async function storeResponse(
  transaction: Transaction,
  { workspace_id, idempotency_key }: IdempotentRequest,
  { status, etag, body }: NewResponse,
): Promise<void> {
  const text = 'UPDATE idempotency_keys SET status = $3, etag = $4, body = $5 WHERE workspace_id = $1 AND idempotency_key = $2';
  await transaction.execute(text, [workspace_id, idempotency_key, status, etag, body]);
}
