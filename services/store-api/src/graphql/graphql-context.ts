import DataLoader from 'dataloader';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { readAnalyses, type Analysis } from '@vitrine/stores/analyses/analyses';
import type { PublicUrls } from '@vitrine/stores/profile/render-profile';
import { StoreReads, type StoreNode, type TechnologyEdgeNode, type TechnologyNode } from './store-reads.ts';

/** Creates and reads the cursors of one list. */
export interface Cursors {
  seal(position: string, filter: string): string;
  /** Undefined for one that was modified, has expired, or belongs to another list or filter. */
  open(cursor: string, filter: string): string | undefined;
}

/** Dependencies of resolvers. */
export interface GraphqlPorts {
  readonly pool: PostgresPool;
  readonly urls: PublicUrls;
  readonly candidateCursors: Cursors;
  readonly nowMs: () => number;
  readonly random: (bytes: number) => Buffer;
}

/** Dependencies for one request, with batched reads. */
export interface GraphqlContext extends GraphqlPorts {
  readonly load: {
    readonly store: Loader<StoreNode>;
    readonly platform: Loader<TechnologyEdgeNode>;
    readonly technologies: Loader<readonly TechnologyEdgeNode[]>;
    readonly technology: Loader<TechnologyNode>;
    readonly analysis: Loader<Analysis>;
  };
}

/** Undefined for a key without a value. */
type Loader<Value> = DataLoader<string, Value | undefined>;

export function requestContext(ports: GraphqlPorts): GraphqlContext {
  const { pool, urls } = ports;
  const reads = new StoreReads(pool, urls);
  const analyses = async (ids: readonly string[]) =>
    new Map((await readAnalyses(pool, ids)).map((analysis) => [analysis.id, analysis] as const));
  return {
    ...ports,
    load: {
      store: loaderOf((domains) => reads.stores(domains)),
      platform: loaderOf((ids) => reads.platforms(ids)),
      technologies: loaderOf((ids) => reads.technologies(ids)),
      technology: loaderOf((slugs) => reads.vocabulary(slugs)),
      analysis: loaderOf(analyses),
    },
  };
}

function loaderOf<Value>(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>): Loader<Value> {
  return new DataLoader(async (keys) => {
    const values = await read(keys);
    return keys.map((key) => values.get(key));
  });
}
