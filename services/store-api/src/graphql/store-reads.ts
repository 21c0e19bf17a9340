import type { Queryable } from '@vitrine/postgres/connection';
import { listingUrl, type PublicUrls } from '@vitrine/stores/profile/public-urls';

/** Types of the schema, as rows are mapped to them. Times are milliseconds since the epoch. */
export interface TechnologyNode {
  readonly slug: string;
  readonly name: string;
  readonly kind: string;
  readonly category: string;
  readonly vendor: string | null;
  readonly website: string | null;
  readonly listingUrl: string;
}

export interface TechnologyEdgeNode {
  readonly technology: TechnologyNode;
  readonly active: boolean;
  readonly installState: string;
  readonly confidence: string;
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
}

export interface StoreNode {
  readonly storefrontId: string;
  readonly domain: string;
  readonly [field: string]: unknown;
}

type TechnologyRow = Omit<TechnologyNode, 'listingUrl'>;
interface EdgeRow extends TechnologyRow {
  readonly storefront_id: string;
  readonly install_state: string;
  readonly confidence: string;
  readonly first_seen_at: number;
  readonly last_seen_at: number;
}
interface StoreRow {
  readonly requested: string;
  readonly domain: string;
  readonly storefront_host: string;
  readonly storefront_id: string;
  readonly name: string | null;
  readonly rank: number | null;
  readonly state: string;
  readonly first_observed_at: number | null;
  readonly last_completed_scan_at: number | null;
  readonly product_count: number | null;
  readonly available_count: number | null;
  readonly currency: string | null;
  readonly price_p25: string | null;
  readonly price_median: string | null;
  readonly price_p75: string | null;
  readonly catalog_as_of: number | null;
  readonly catalog_coverage: string | null;
}

const TECHNOLOGY = 't.slug, t.name, t.kind, t.category, t.vendor, t.website';
/** The domain that a storefront has left leads to the storefront. */
const SELECT_STORES = `SELECT a.domain AS requested, s.domain, s.storefront_host, s.storefront_id, s.name, s.rank, s.state, s.first_observed_at,
    s.last_completed_scan_at, s.product_count, s.available_count, s.currency, s.price_p25, s.price_median, s.price_p75, s.catalog_as_of,
    s.catalog_coverage
  FROM stores a JOIN stores s ON s.storefront_id = coalesce(a.moved_to, a.storefront_id)
  WHERE a.domain = ANY ($1) AND NOT EXISTS (SELECT FROM domain_denylist d WHERE d.domain IN (a.domain, s.domain))`;
const SELECT_EDGES = `SELECT e.storefront_id, e.install_state, e.confidence, e.first_observed_at AS first_seen_at, e.last_confirmed_at AS last_seen_at,
    ${TECHNOLOGY}
  FROM store_technologies e JOIN technologies t USING (slug) WHERE e.storefront_id = ANY ($1) ORDER BY e.storefront_id, t.slug`;
const SELECT_PLATFORMS = `SELECT s.storefront_id, CASE s.state WHEN 'inactive' THEN 'inactive' ELSE 'active' END AS install_state,
    s.platform_confidence AS confidence, s.platform_first_observed_at AS first_seen_at, s.platform_last_confirmed_at AS last_seen_at, ${TECHNOLOGY}
  FROM stores s JOIN technologies t ON t.slug = s.platform WHERE s.storefront_id = ANY ($1)`;
const SELECT_TECHNOLOGIES = `SELECT ${TECHNOLOGY} FROM technologies t WHERE t.slug = ANY ($1)`;

/** Reads for batches of keys, each with one statement. */
export class StoreReads {
  readonly #database: Queryable;
  readonly #urls: PublicUrls;

  constructor(database: Queryable, urls: PublicUrls) {
    this.#database = database;
    this.#urls = urls;
  }

  /** By canonical domain. */
  async stores(domains: readonly string[]): Promise<ReadonlyMap<string, StoreNode>> {
    const rows = await this.#database.query<StoreRow>(SELECT_STORES, [domains], { name: 'graphql_stores' });
    return new Map(rows.map((row) => [row.requested, storeNode(row)]));
  }

  /** By id of the storefront. */
  async technologies(storefrontIds: readonly string[]): Promise<ReadonlyMap<string, TechnologyEdgeNode[]>> {
    const rows = await this.#database.query<EdgeRow>(SELECT_EDGES, [storefrontIds], { name: 'graphql_technologies' });
    const byStore = Map.groupBy(rows, ({ storefront_id }) => storefront_id);
    return new Map([...byStore].map(([id, edges]) => [id, edges.map((edge) => this.#edge(edge))]));
  }

  /** By id of the storefront. */
  async platforms(storefrontIds: readonly string[]): Promise<ReadonlyMap<string, TechnologyEdgeNode>> {
    const rows = await this.#database.query<EdgeRow>(SELECT_PLATFORMS, [storefrontIds], { name: 'graphql_platforms' });
    return new Map(rows.map((row) => [row.storefront_id, this.#edge(row)]));
  }

  /** By slug. */
  async vocabulary(slugs: readonly string[]): Promise<ReadonlyMap<string, TechnologyNode>> {
    const rows = await this.#database.query<TechnologyRow>(SELECT_TECHNOLOGIES, [slugs], { name: 'graphql_vocabulary' });
    return new Map(rows.map((row) => [row.slug, this.#technology(row)]));
  }

  #edge(row: EdgeRow): TechnologyEdgeNode {
    return {
      technology: this.#technology(row),
      active: row.install_state === 'active',
      installState: row.install_state,
      confidence: row.confidence,
      firstSeenAt: row.first_seen_at,
      lastSeenAt: row.last_seen_at,
    };
  }

  #technology({ slug, name, kind, category, vendor, website }: TechnologyRow): TechnologyNode {
    return { slug, name, kind, category, vendor, website, listingUrl: listingUrl(this.#urls, slug) };
  }
}

function storeNode(row: StoreRow): StoreNode {
  return {
    domain: row.domain,
    storefrontHost: row.storefront_host,
    storefrontId: row.storefront_id,
    name: row.name,
    rank: row.rank,
    state: row.state,
    firstObservedAt: row.first_observed_at,
    lastObservedAt: row.last_completed_scan_at,
    catalog: catalogOf(row),
  };
}

function catalogOf(row: StoreRow) {
  if (row.catalog_as_of === null) return null;
  const { price_p25, price_median, price_p75 } = row;
  const priceRange = { p25: Number(price_p25), median: Number(price_median), p75: Number(price_p75) };
  return {
    productCount: row.product_count,
    availableCount: row.available_count,
    currency: row.currency,
    priceRange: price_median === null ? null : priceRange,
    asOf: row.catalog_as_of,
    coverage: row.catalog_coverage,
  };
}
