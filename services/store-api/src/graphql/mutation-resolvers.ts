import { issueText } from '@vitrine/config/issue-text';
import { analyzeStore } from '@vitrine/stores/analyses/analyses';
import { canonicalDomain } from '@vitrine/stores/canonical-domain';
import { resolveCandidate } from '@vitrine/stores/evidence/candidates';
import { evidenceInput, type EvidenceInput } from '@vitrine/stores/evidence/evidence-input';
import { ingestEvidence } from '@vitrine/stores/evidence/ingest-evidence';
import { createId } from '@vitrine/stores/identifiers';
import { queueScans } from '@vitrine/stores/scans/queue-scans';
import { isStorableText, STORABLE_RULE } from '@vitrine/stores/storable-text';
import { fieldOf } from '../http/read-request.ts';
import { graphqlError } from './graphql-error.ts';
import { candidateNode, type Resolver } from './query-resolvers.ts';

const MAX_SCANS = 100;
const MIN_KEY = 8;
const MAX_KEY = 128;

interface EvidenceArguments {
  readonly idempotencyKey: string;
  readonly input: {
    readonly sourceUrl: string;
    readonly capturedAt: number;
    readonly claims: readonly { domain?: string | null; technologySlug?: string | null; claim: string }[];
  };
}

/** Schema names by field names of the specification. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  source_url: 'sourceUrl',
  captured_at: 'capturedAt',
  technology_slug: 'technologySlug',
};

function readEvidence({ sourceUrl, capturedAt, claims }: EvidenceArguments['input'], nowMs: number): EvidenceInput {
  const input = {
    source_url: sourceUrl,
    captured_at: capturedAt,
    claims: claims.map(({ domain, technologySlug, claim }) => ({ domain, technology_slug: technologySlug, claim })),
  };
  const parsed = evidenceInput(nowMs).safeParse(input, { error: issueText });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const names = ['input', ...(issue?.path ?? [])].map((part) =>
    typeof part === 'number' ? part : (FIELD_NAMES[String(part)] ?? part),
  );
  throw graphqlError('invalid_request', `${fieldOf(names)} ${issue?.message}`);
}

const ingest: Resolver<unknown, EvidenceArguments> = async (_, { idempotencyKey, input }, { pool, nowMs, random }) => {
  if (idempotencyKey.length < MIN_KEY || idempotencyKey.length > MAX_KEY)
    throw graphqlError('invalid_request', `idempotencyKey must have ${MIN_KEY} to ${MAX_KEY} characters`);
  if (!isStorableText(idempotencyKey)) throw graphqlError('invalid_request', `idempotencyKey ${STORABLE_RULE}`);
  const at = nowMs();
  const evidence = { input: readEvidence(input, at), idempotency_key: idempotencyKey, at, random };
  const outcome = await pool.transaction((transaction) => ingestEvidence(transaction, evidence));
  if (outcome.kind === 'conflict') throw graphqlError('conflict', 'idempotencyKey was used for other evidence');
  if (outcome.kind === 'unknown_technology')
    throw graphqlError('invalid_request', `input.claims[${outcome.claim}].technologySlug is not in the vocabulary`);
  const { id, received_at, candidate_ids } = outcome.receipt;
  return { id, receivedAt: received_at, candidateIds: candidate_ids };
};

const resolve: Resolver<unknown, { readonly id: string; readonly domain?: string | null }> = async (_, args, context) => {
  const { pool, nowMs, random } = context;
  // A missing variable must not reject a claim.
  if (args.domain === undefined) throw graphqlError('invalid_request', 'domain must be given; null rejects the claim');
  const domain = args.domain === null ? null : requiredDomain(args.domain);
  if (!isStorableText(args.id)) throw unknownCandidate();
  const decision = await pool.transaction((transaction) =>
    resolveCandidate(transaction, { id: args.id, domain, at: nowMs(), random }),
  );
  if (!('candidate' in decision)) {
    if (decision.kind === 'denied_domain') throw graphqlError('invalid_request', 'domain is on the denylist');
    throw unknownCandidate();
  }
  const { kind, candidate } = decision;
  if (kind === 'conflict') throw graphqlError('conflict', `the candidate is ${candidate.status} already`);
  return candidateNode(candidate);
};

const queue: Resolver<unknown, { readonly domains: readonly string[] }> = async (_, { domains: inputs }, context) => {
  const { pool, nowMs, random } = context;
  if (inputs.length < 1 || inputs.length > MAX_SCANS)
    throw graphqlError('invalid_request', `domains must have 1 to ${MAX_SCANS} items`);
  const at = nowMs();
  const canonical = inputs.map(canonicalDomain);
  const domains = [...new Set(canonical.filter((domain) => domain !== undefined))];
  const scans = { domains, cause: 'requested', createId: () => createId('job', at, random) } as const;
  const jobs = await pool.transaction((transaction) => queueScans(transaction, scans));
  return canonical.map((domain, i) => {
    const job = domain === undefined ? undefined : jobs.get(domain);
    const reason = domain === undefined ? 'invalid_domain' : 'blocked';
    return {
      domain: inputs[i],
      scanJobId: job?.scan_job_id ?? null,
      isNew: job?.state === 'new',
      reason: job === undefined ? reason : null,
    };
  });
};

const analyze: Resolver<unknown, { readonly domain: string }> = (_, args, { pool, nowMs, random }) => {
  const domain = requiredDomain(args.domain);
  return pool.transaction((transaction) => analyzeStore(transaction, domain, nowMs(), random));
};

function unknownCandidate() {
  return graphqlError('not_found', 'there is no candidate with this id');
}

function requiredDomain(text: string): string {
  const domain = canonicalDomain(text);
  if (domain === undefined) throw graphqlError('invalid_request', 'domain must have a public registrable domain');
  return domain;
}

export const MUTATION_RESOLVERS = {
  Mutation: { ingestEvidence: ingest, resolveCandidate: resolve, queueScans: queue, analyzeStore: analyze },
};
