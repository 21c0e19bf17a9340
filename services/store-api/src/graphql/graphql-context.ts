import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { readAnalyses, type Analysis } from '@vitrine/stores/analyses/analyses';
import type { PublicUrls } from '@vitrine/stores/profile/public-urls';
import { BatchLoader } from './batch-loader.ts';
import { StoreReads, type StoreNode, type TechnologyEdgeNode, type TechnologyNode } from './store-reads.ts';

/** Makes and reads the cursors of one list, which clients get and send back. */
export interface Cursors {
  seal(position: string, filter: string): string;
  /** Undefined for one that was changed, has expired, or is of another list or filter. */
  open(cursor: string, filter: string): string | undefined;
}

/** What resolvers work with. */
export interface GraphqlPorts {
  readonly pool: PostgresPool;
  readonly urls: PublicUrls;
  readonly candidateCursors: Cursors;
  readonly nowMs: () => number;
  readonly random: (bytes: number) => Buffer;
}

/** The same for one request, whose reads are batched. */
export interface GraphqlContext extends GraphqlPorts {
  readonly load: {
    readonly store: BatchLoader<StoreNode>;
    readonly platform: BatchLoader<TechnologyEdgeNode>;
    readonly technologies: BatchLoader<readonly TechnologyEdgeNode[]>;
    readonly technology: BatchLoader<TechnologyNode>;
    readonly analysis: BatchLoader<Analysis>;
  };
}

export function requestContext(ports: GraphqlPorts): GraphqlContext {
  const { pool, urls } = ports;
  const reads = new StoreReads(pool, urls);
  const analyses = async (ids: readonly string[]) =>
    new Map((await readAnalyses(pool, ids)).map((analysis) => [analysis.id, analysis] as const));
  return {
    ...ports,
    load: {
      store: new BatchLoader((domains) => reads.stores(domains)),
      platform: new BatchLoader((ids) => reads.platforms(ids)),
      technologies: new BatchLoader((ids) => reads.technologies(ids)),
      technology: new BatchLoader((slugs) => reads.vocabulary(slugs)),
      analysis: new BatchLoader(analyses),
    },
  };
}
