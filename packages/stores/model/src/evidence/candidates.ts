import type { Queryable } from '@vitrine/postgres/connection';
import type { Transaction } from '@vitrine/postgres/transaction';
import { addToCorpus } from '../corpus/add-to-corpus.ts';

export type CandidateStatus = 'pending' | 'resolved' | 'rejected';

/** A claimed relationship and its decision. Times are milliseconds since the epoch. */
export interface Candidate {
  readonly id: string;
  readonly domain: string | null;
  readonly technology_slug: string | null;
  readonly claim: string;
  readonly source_url: string;
  readonly captured_at: number;
  readonly status: CandidateStatus;
}

/** Null: any. */
export interface CandidateFilters {
  readonly status: CandidateStatus | null;
  readonly domain: string | null;
  readonly technology_slug: string | null;
}

export interface CandidateQuery extends CandidateFilters {
  /** The id of the last candidate of the previous page. */
  readonly after: string | null;
  readonly limit: number;
}

const COLUMNS = 'id, domain, technology_slug, claim, source_url, captured_at, status';
/** The columns that a list can be filtered by; the statement has a condition for each. */
export const CANDIDATE_FILTERS = Object.keys({
  status: true,
  domain: true,
  technology_slug: true,
} satisfies Record<keyof CandidateFilters, true>) as (keyof CandidateFilters)[];
const CONDITIONS = CANDIDATE_FILTERS.map((name, i) => `($${i + 3}::text IS NULL OR ${name} = $${i + 3})`);
const SELECT_PAGE = `SELECT ${COLUMNS} FROM candidates WHERE id > $1 AND ${CONDITIONS.join(' AND ')} ORDER BY id LIMIT $2`;

/** A page of the queue, oldest first. */
export function readCandidates(database: Queryable, query: CandidateQuery): Promise<Candidate[]> {
  const values = [query.after ?? '', query.limit, ...CANDIDATE_FILTERS.map((name) => query[name])];
  return database.query<Candidate>(SELECT_PAGE, values);
}

type CandidateDecision =
  | { readonly kind: 'decided'; readonly candidate: Candidate }
  /** It was already decided differently. */
  | { readonly kind: 'conflict'; readonly candidate: Candidate }
  | { readonly kind: 'unknown_candidate' | 'denied_domain' };

interface CandidateToResolve {
  readonly id: string;
  /** Canonical; null rejects the claim. */
  readonly domain: string | null;
  readonly at: number;
  readonly random: (bytes: number) => Uint8Array;
}

/** Decides a candidate: it belongs to the domain, which is added to the corpus, or its claim is rejected. Repeating a decision has no effect. */
export async function resolveCandidate(transaction: Transaction, decision: CandidateToResolve): Promise<CandidateDecision> {
  const { id, domain, at, random } = decision;
  const text = `SELECT ${COLUMNS} FROM candidates WHERE id = $1 FOR UPDATE`;
  const [candidate] = await transaction.query<Candidate>(text, [id]);
  if (candidate === undefined) return { kind: 'unknown_candidate' };
  const status: CandidateStatus = domain === null ? 'rejected' : 'resolved';
  const isSame = candidate.status === status && (domain === null || candidate.domain === domain);
  if (isSame) return { kind: 'decided', candidate };
  if (candidate.status !== 'pending') return { kind: 'conflict', candidate };
  if (domain !== null) {
    const denied = await transaction.query('SELECT 1 FROM domain_denylist WHERE domain = $1', [domain]);
    if (denied.length > 0) return { kind: 'denied_domain' };
    await addToCorpus(transaction, [{ domain, rank: null }], at, random);
  }
  const update = `UPDATE candidates SET status = $2, domain = coalesce($3, domain) WHERE id = $1 RETURNING ${COLUMNS}`;
  const [decided] = await transaction.query<Candidate>(update, [id, status, domain]);
  return decided === undefined ? { kind: 'unknown_candidate' } : { kind: 'decided', candidate: decided };
}
