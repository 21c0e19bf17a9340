import { codeOf, isFault } from '@vitrine/faults/fault';
import { isOverload } from '@vitrine/postgres/postgres-error';
import { GraphQLError } from 'graphql';

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
