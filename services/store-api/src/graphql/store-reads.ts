import type { Queryable } from '@vitrine/postgres/connection';
import { listingUrl, type PublicUrls } from '@vitrine/stores/profile/render-profile';

/** Types of the schema, to which rows are mapped. Times are milliseconds since the epoch. */
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
/** Columns have the names of the schema. */
type EdgeRow = TechnologyRow & Omit<TechnologyEdgeNode, 'technology' | 'active'> & { readonly storefrontId: string };
interface StoreRow extends StoreNode {
  readonly requested: string;
}

const TECHNOLOGY = 't.slug, t.name, t.kind, t.category, t.vendor, t.website';
/** A former domain resolves to the moved storefront. */
const SELECT_STORES = `SELECT a.domain AS requested, s.domain, s.storefront_host AS "storefrontHost", s.storefront_id AS "storefrontId", s.name,
    s.rank, s.state, s.first_observed_at AS "firstObservedAt", s.last_completed_scan_at AS "lastObservedAt", s.product_count AS "productCount",
    s.available_count AS "availableCount", s.currency, s.price_p25 AS p25, s.price_median AS median, s.price_p75 AS p75,
    s.catalog_as_of AS "asOf", s.catalog_coverage AS coverage
  FROM stores a JOIN stores s ON s.storefront_id = coalesce(a.moved_to, a.storefront_id)
  WHERE a.domain = ANY ($1) AND NOT EXISTS (SELECT FROM domain_denylist d WHERE d.domain IN (a.domain, s.domain))`;
const SELECT_EDGES = `SELECT e.storefront_id AS "storefrontId", e.install_state AS "installState", e.confidence,
    e.first_observed_at AS "firstSeenAt", e.last_confirmed_at AS "lastSeenAt", ${TECHNOLOGY}
  FROM store_technologies e JOIN technologies t USING (slug) WHERE e.storefront_id = ANY ($1) ORDER BY e.storefront_id, t.slug`;
const SELECT_PLATFORMS = `SELECT s.storefront_id AS "storefrontId", CASE s.state WHEN 'inactive' THEN 'inactive' ELSE 'active' END AS "installState",
    s.platform_confidence AS confidence, s.platform_first_observed_at AS "firstSeenAt", s.platform_last_confirmed_at AS "lastSeenAt", ${TECHNOLOGY}
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
    const byStore = Map.groupBy(rows, ({ storefrontId }) => storefrontId);
    return new Map([...byStore].map(([id, edges]) => [id, edges.map((edge) => this.#edge(edge))]));
  }

  /** By id of the storefront. */
  async platforms(storefrontIds: readonly string[]): Promise<ReadonlyMap<string, TechnologyEdgeNode>> {
    const rows = await this.#database.query<EdgeRow>(SELECT_PLATFORMS, [storefrontIds], { name: 'graphql_platforms' });
    return new Map(rows.map((row) => [row.storefrontId, this.#edge(row)]));
  }

  /** By slug. */
  async vocabulary(slugs: readonly string[]): Promise<ReadonlyMap<string, TechnologyNode>> {
    const rows = await this.#database.query<TechnologyRow>(SELECT_TECHNOLOGIES, [slugs], { name: 'graphql_vocabulary' });
    return new Map(rows.map((row) => [row.slug, this.#technology(row)]));
  }

  #edge({ storefrontId: _id, installState, confidence, firstSeenAt, lastSeenAt, ...technology }: EdgeRow): TechnologyEdgeNode {
    const active = installState === 'active';
    return { technology: this.#technology(technology), active, installState, confidence, firstSeenAt, lastSeenAt };
  }

  #technology(technology: TechnologyRow): TechnologyNode {
    return { ...technology, listingUrl: listingUrl(this.#urls, technology.slug) };
  }
}

function storeNode(row: StoreRow): StoreNode {
  const { requested: _, productCount, availableCount, currency, p25, median, p75, asOf, coverage, ...store } = row;
  const priceRange = median === null ? null : { p25: Number(p25), median: Number(median), p75: Number(p75) };
  return { ...store, catalog: asOf === null ? null : { productCount, availableCount, currency, priceRange, asOf, coverage } };
}
