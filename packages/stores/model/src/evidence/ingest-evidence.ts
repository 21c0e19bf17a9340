import type { Transaction } from '@vitrine/postgres/transaction';
import { createId } from '../identifiers.ts';
import { evidenceFingerprint, type EvidenceInput } from './evidence-input.ts';

/** The receipt for evidence, returned again for a repetition. Times are milliseconds since the epoch. */
export interface EvidenceReceipt {
  readonly id: string;
  readonly received_at: number;
  /** One for each claim, in their order. */
  readonly candidate_ids: readonly string[];
}

type EvidenceOutcome =
  | { readonly kind: 'received' | 'replayed'; readonly receipt: EvidenceReceipt }
  /** The key was used for other evidence. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown_technology'; readonly claim: number };

interface EvidenceToIngest {
  readonly input: EvidenceInput;
  readonly idempotency_key: string;
  readonly at: number;
  readonly random: (bytes: number) => Uint8Array;
}

const CLAIM_KEY = `INSERT INTO evidence_receipts (idempotency_key, fingerprint, receipt, created_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING`;
const INSERT_EVIDENCE = `INSERT INTO evidence (id, source_url, captured_at, received_at, document) VALUES ($1, $2, $3, $4, $5)`;
const INSERT_CANDIDATES = `INSERT INTO candidates (id, evidence_id, domain, technology_slug, claim, source_url, captured_at, received_at)
  SELECT c.id, $1, c.domain, c.slug, c.claim, $2, $3, $8
  FROM unnest($4::text[], $5::text[], $6::text[], $7::text[]) AS c (id, domain, slug, claim)`;

/** Stores evidence and creates a candidate for each claim, in the caller's transaction. A retry with the same key gets the first receipt, and
 *  waits while that is being written. Spec: S10.3. */
export async function ingestEvidence(transaction: Transaction, evidence: EvidenceToIngest): Promise<EvidenceOutcome> {
  const { input, idempotency_key, at, random } = evidence;
  const unknown = await unknownTechnology(transaction, input);
  if (unknown !== -1) return { kind: 'unknown_technology', claim: unknown };
  const receipt: EvidenceReceipt = {
    id: createId('evd', at, random),
    received_at: at,
    candidate_ids: input.claims.map(() => createId('cnd', at, random)),
  };
  const values = [idempotency_key, evidenceFingerprint(input), JSON.stringify(receipt), new Date(at)];
  if ((await transaction.execute(CLAIM_KEY, values)) === 0) return readReceipt(transaction, evidence);
  const capturedAt = new Date(input.captured_at);
  const document = JSON.stringify({ claims: input.claims });
  await transaction.execute(INSERT_EVIDENCE, [receipt.id, input.source_url, capturedAt, new Date(at), document]);
  const { claims } = input;
  await transaction.execute(INSERT_CANDIDATES, [
    receipt.id,
    input.source_url,
    capturedAt,
    receipt.candidate_ids,
    claims.map(({ domain }) => domain),
    claims.map(({ technology_slug }) => technology_slug),
    claims.map(({ claim }) => claim),
    new Date(at),
  ]);
  return { kind: 'received', receipt };
}

async function readReceipt(transaction: Transaction, { input, idempotency_key }: EvidenceToIngest): Promise<EvidenceOutcome> {
  const text = 'SELECT fingerprint, receipt FROM evidence_receipts WHERE idempotency_key = $1';
  const [row] = await transaction.query<{ fingerprint: Buffer; receipt: string }>(text, [idempotency_key]);
  if (row === undefined || !row.fingerprint.equals(evidenceFingerprint(input))) return { kind: 'conflict' };
  return { kind: 'replayed', receipt: JSON.parse(row.receipt) as EvidenceReceipt };
}

/** The first claim whose technology is not in the vocabulary; -1 for none. */
async function unknownTechnology(transaction: Transaction, { claims }: EvidenceInput): Promise<number> {
  const named = claims.flatMap(({ technology_slug }) => technology_slug ?? []);
  if (named.length === 0) return -1;
  const rows = await transaction.query<{ slug: string }>('SELECT slug FROM technologies WHERE slug = ANY ($1)', [named]);
  const known = new Set(rows.map(({ slug }) => slug));
  return claims.findIndex(({ technology_slug }) => technology_slug !== null && !known.has(technology_slug));
}
