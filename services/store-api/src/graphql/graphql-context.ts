import DataLoader from 'dataloader';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { readAnalyses, type Analysis } from '@vitrine/stores/analyses/analyses';
import type { PublicUrls } from '@vitrine/stores/profile/render-profile';
import { StoreReads, type StoreNode, type TechnologyEdgeNode, type TechnologyNode } from './store-reads.ts';
import { codeOf, isFault } from '@vitrine/faults/fault';
import { isOverload } from '@vitrine/postgres/postgres-error';
import { GraphQLError } from 'graphql';

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

/** Codes of `extensions.code`, those of the error envelope where both have them. */
export const GRAPHQL_CODES = ['invalid_request', 'not_found', 'conflict', 'overloaded', 'internal'] as const;
type GraphqlCode = (typeof GRAPHQL_CODES)[number];

const OVERLOADED = 'The service is overloaded; retry after a second.';
const INTERNAL = 'The service failed; retry once after a few seconds.';

/** An error for the client, from a resolver. */
export function graphqlError(code: Exclude<GraphqlCode, 'internal' | 'overloaded'>, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** Whether an error is a failure of ours, which is logged and not shown. */
export function isInternal({ originalError, extensions }: GraphQLError): boolean {
  if (originalError === undefined || originalError === null || 'code' in extensions) return false;
  // Of graphql-js itself, such as for an input that is no DateTime.
  return !(originalError instanceof GraphQLError);
}

function codeOfError(error: GraphQLError): GraphqlCode {
  if (isInternal(error)) return isOverload(error.originalError) ? 'overloaded' : 'internal';
  return (error.extensions['code'] as GraphqlCode | undefined) ?? 'invalid_request';
}

/** The error as a client gets it: with a code and its place in the query, without the words of internal failures. */
export function publicError(error: GraphQLError): GraphQLError {
  const internal = isInternal(error);
  const isRetry = internal && isFault(error.originalError) && codeOf(error.originalError) === 'scan_not_queued';
  const code = codeOfError(error);
  const message = code === 'overloaded' ? OVERLOADED : internal && !isRetry ? INTERNAL : error.message;
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { code },
  });
}
