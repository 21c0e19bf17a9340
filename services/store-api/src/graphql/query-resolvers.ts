import type { Analysis } from '@vitrine/stores/analyses/analyses';
import { canonicalDomain } from '@vitrine/stores/canonical-domain';
import { readCandidates, type Candidate, type CandidateFilters, type CandidateStatus } from '@vitrine/stores/evidence/candidates';
import { isStorableText, STORABLE_RULE } from '@vitrine/stores/storable-text';
import type { GraphqlContext } from './graphql-context.ts';
import { graphqlError } from './graphql-error.ts';
import type { StoreNode } from './store-reads.ts';

/** Arguments have the types of the schema. */
export type Resolver<Source = unknown, Args = object> = (source: Source, args: Args, context: GraphqlContext) => unknown;

const MAX_PAGE = 200;

interface CandidateArguments {
  readonly status?: CandidateStatus | null;
  readonly domain?: string | null;
  readonly technologySlug?: string | null;
  readonly first: number;
  readonly after?: string | null;
}

const store: Resolver<unknown, { readonly domain: string }> = (_, args, { load }) => {
  const domain = canonicalDomain(args.domain);
  return domain === undefined ? null : load.store.load(domain);
};

const technology: Resolver<unknown, { readonly slug: string }> = (_, { slug }, { load }) =>
  isStorableText(slug) ? load.technology.load(slug) : null;

const storeAnalysis: Resolver<unknown, { readonly id: string }> = (_, { id }, { load }) =>
  isStorableText(id) ? load.analysis.load(id) : null;

const candidates: Resolver<unknown, CandidateArguments> = async (_, args, { pool, candidateCursors }) => {
  const { first, after = null, ...given } = args;
  if (first < 1 || first > MAX_PAGE) throw graphqlError('invalid_request', `first must be 1 to ${MAX_PAGE}`);
  const filters = candidateFilters(given);
  const list = JSON.stringify(filters);
  const position = after === null ? null : candidateCursors.open(after, list);
  if (position === undefined)
    throw graphqlError('invalid_request', 'after must be a cursor of this list with the same filters, at most 24 hours old');
  const rows = await readCandidates(pool, { ...filters, after: position, limit: first + 1 });
  const edges = rows
    .slice(0, first)
    .map((candidate) => ({ cursor: candidateCursors.seal(candidate.id, list), node: candidateNode(candidate) }));
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: { hasNextPage: rows.length > first, endCursor: edges.at(-1)?.cursor ?? null },
  };
};

function candidateFilters({ status, domain, technologySlug }: Omit<CandidateArguments, 'first' | 'after'>): CandidateFilters {
  if (technologySlug != null && !isStorableText(technologySlug))
    throw graphqlError('invalid_request', `technologySlug ${STORABLE_RULE}`);
  const canonical = domain == null ? null : canonicalDomain(domain);
  if (canonical === undefined) throw graphqlError('invalid_request', 'domain must have a public registrable domain');
  return { status: status ?? null, domain: canonical, technology_slug: technologySlug ?? null };
}

export function candidateNode({ technology_slug, source_url, captured_at, ...candidate }: Candidate) {
  return { ...candidate, technologySlug: technology_slug, sourceUrl: source_url, capturedAt: captured_at };
}

const resultOfAnalysis: Resolver<Analysis> = ({ status, domain }, _, { load }) =>
  status === 'completed' ? load.store.load(domain) : null;

export const QUERY_RESOLVERS = {
  Query: { store, technology, storeAnalysis, candidates },
  Store: {
    platform: (({ storefrontId }, _, { load }) => load.platform.load(storefrontId)) satisfies Resolver<StoreNode>,
    technologies: (async ({ storefrontId }, _, { load }) =>
      (await load.technologies.load(storefrontId)) ?? []) satisfies Resolver<StoreNode>,
  },
  StoreAnalysis: { result: resultOfAnalysis },
};
