/** The schema of `/graphql`; the page docs/api/store-api.graphql is generated from it. Spec: S10.1 to S10.7. */
export const SCHEMA_TEXT = `
"""RFC 3339, in UTC."""
scalar DateTime

type Query {
  """A domain of the corpus; the input may be a host name or URL. Null for one that is unknown or on the denylist."""
  store(domain: String!): Store
  """One entry of the vocabulary; null for an unknown slug."""
  technology(slug: String!): Technology
  """Claimed relationships, oldest first."""
  candidates(
    status: CandidateStatus
    domain: String
    technologySlug: String
    """1 to 200."""
    first: Int! = 50
    """\`endCursor\` of the previous page, with the same filters; valid for 24 hours."""
    after: String
  ): CandidateConnection!
  """Null for an unknown id."""
  storeAnalysis(id: ID!): StoreAnalysis
}

type Mutation {
  """Stores the claims of a capture and creates a candidate for each. A retry with the same key replays the original receipt; the same key with other input is a conflict."""
  ingestEvidence(
    input: EvidenceInput!
    """8 to 128 characters."""
    idempotencyKey: String!
  ): EvidenceReceipt!
  """Decides a candidate: it belongs to the domain, which is in the corpus from then on. Null, given explicitly, rejects the claim."""
  resolveCandidate(id: ID!, domain: String): Candidate!
  """Queues a scan of each of 1 to 100 domains, in their order; one that has an open job gets that one."""
  queueScans(domains: [String!]!): [QueuedScan!]!
  """Waits for the open scan of a domain, or for a new one."""
  analyzeStore(domain: String!): StoreAnalysis!
}

"""high: corroborated by more than one independent signal.""" enum Confidence { high medium low }
"""inactive: a confirmed removal.""" enum InstallState { active configured inactive }
"""Derived from completed observations only.""" enum StoreState { candidate reachable verified_ecommerce active_storefront inactive }
"""Counts under first_page and partial are lower bounds.""" enum CatalogCoverage { full first_page partial }
"""app: a listing of a platform marketplace.""" enum TechnologyKind { platform app service theme }
"""State of a claim.""" enum CandidateStatus { pending resolved rejected }
"""Status of the scan.""" enum AnalysisStatus { queued running completed blocked failed }

type Store {
  """Canonical registrable domain."""
  domain: String!
  storefrontHost: String!
  storefrontId: ID!
  name: String
  """From an imported list of domains."""
  rank: Int
  state: StoreState!
  """Null before the first completed observation, as is lastObservedAt."""
  firstObservedAt: DateTime
  lastObservedAt: DateTime
  """Null when none was confirmed."""
  platform: TechnologyEdge
  """Null before the first census."""
  catalog: CatalogSummary
  """By slug, without the platform. Missing technologies were not seen; that is not a removal."""
  technologies: [TechnologyEdge!]!
}

type CatalogSummary {
  productCount: Int!
  availableCount: Int
  """ISO 4217."""
  currency: String
  priceRange: PriceRange
  asOf: DateTime!
  coverage: CatalogCoverage!
}

type PriceRange {
  p25: Float!
  median: Float!
  p75: Float!
}

type TechnologyEdge {
  technology: Technology!
  """Whether it was loading in the last completed observation."""
  active: Boolean!
  installState: InstallState!
  confidence: Confidence!
  firstSeenAt: DateTime!
  lastSeenAt: DateTime!
}

type Technology {
  slug: String!
  name: String!
  kind: TechnologyKind!
  category: String!
  vendor: String
  website: String
  """Public page."""
  listingUrl: String!
}

type CandidateConnection {
  edges: [CandidateEdge!]!
  nodes: [Candidate!]!
  pageInfo: PageInfo!
}

type CandidateEdge {
  cursor: String!
  node: Candidate!
}

type PageInfo {
  hasNextPage: Boolean!
  endCursor: String
}

type Candidate {
  id: ID!
  domain: String
  technologySlug: String
  claim: String!
  sourceUrl: String!
  capturedAt: DateTime!
  status: CandidateStatus!
}

"""Claims of a page about stores, such as a case study of a vendor."""
input EvidenceInput {
  sourceUrl: String!
  """Not in the future."""
  capturedAt: DateTime!
  """1 to 100."""
  claims: [ClaimInput!]!
}

input ClaimInput {
  """A host name or URL; missing where the page names none."""
  domain: String
  technologySlug: String
  """1 to 1,000 characters."""
  claim: String!
}

type EvidenceReceipt {
  id: ID!
  receivedAt: DateTime!
  """One for each claim, in their order."""
  candidateIds: [ID!]!
}

type QueuedScan {
  """As it was given."""
  domain: String!
  """Null where no scan was queued."""
  scanJobId: ID
  """Whether the job was queued now; false for one that was open."""
  isNew: Boolean!
  """Why no scan was queued."""
  reason: QueueReason
}

"""Why no scan was queued.""" enum QueueReason { invalid_domain blocked }

type StoreAnalysis {
  id: ID!
  status: AnalysisStatus!
  domain: String!
  """The store when the analysis is completed; null where its domain is not in the corpus any more."""
  result: Store
  """Why it was blocked or failed."""
  error: String
}
`;
