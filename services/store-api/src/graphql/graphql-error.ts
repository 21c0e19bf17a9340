import { codeOf, isFault } from '@vitrine/faults/fault';
import { GraphQLError } from 'graphql';

/** Codes of `extensions.code`, those of the error envelope where both have them. */
export const GRAPHQL_CODES = ['invalid_request', 'not_found', 'conflict', 'internal'] as const;
export type GraphqlCode = (typeof GRAPHQL_CODES)[number];

const INTERNAL = 'The service failed; retry once after a few seconds.';

/** An error for the client, from a resolver. */
export function graphqlError(code: Exclude<GraphqlCode, 'internal'>, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** Whether an error is a failure of ours, which is logged and not shown. */
export function isInternal({ originalError, extensions }: GraphQLError): boolean {
  if (originalError === undefined || originalError === null || 'code' in extensions) return false;
  // Of graphql-js itself, such as for an input that is no DateTime.
  return !(originalError instanceof GraphQLError);
}

/** The error as a client gets it: with a code and its place in the query, without the words of internal failures. */
export function publicError(error: GraphQLError): GraphQLError {
  const internal = isInternal(error);
  const isRetry = internal && isFault(error.originalError) && codeOf(error.originalError) === 'scan_not_queued';
  const code: GraphqlCode = internal ? 'internal' : ((error.extensions['code'] as GraphqlCode | undefined) ?? 'invalid_request');
  const message = internal && !isRetry ? INTERNAL : error.message;
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: { code },
  });
}
