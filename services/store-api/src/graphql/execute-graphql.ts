import { createHandler } from 'graphql-http';
import {
  execute,
  getOperationAST,
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { requestContext, type GraphqlPorts } from './graphql-context.ts';
import { graphqlError, isInternal, publicError } from './graphql-error.ts';
import { operationNameOf, type OperationName } from './operation-name.ts';
import { MAX_TOKENS, queryLimitError } from './query-limits.ts';

const MAX_ERRORS = 20;

/** A request parsed from JSON. */
interface GraphqlParams {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
}

interface GraphqlOutcome {
  /** The response as JSON. */
  readonly body: string;
  readonly operation: OperationName;
  /** Code of the first error; '' without one. */
  readonly code: string;
  /** Internal failures that are hidden from the client. */
  readonly failures: readonly unknown[];
}

export interface GraphqlOptions {
  readonly schema: GraphQLSchema;
  readonly ports: GraphqlPorts;
  readonly introspection: boolean;
}

interface Seen {
  operation: OperationName;
  code: string;
  readonly failures: unknown[];
}

/** Runs one request: limits, then validation, then resolvers; errors are part of the response. `signal` ends it before all fields are resolved. */
export async function executeGraphql(
  { schema, ports, introspection }: GraphqlOptions,
  params: GraphqlParams,
  signal: AbortSignal,
): Promise<GraphqlOutcome> {
  const seen: Seen = { operation: 'invalid', code: '', failures: [] };
  const note = (errors: readonly GraphQLError[]) => errors.map((error) => noted(error, seen));
  const handler = createHandler({
    execute,
    onSubscribe: () => {
      const prepared = prepare(schema, params, introspection);
      if ('errors' in prepared) return note(prepared.errors);
      seen.operation = prepared.operation;
      return {
        schema,
        document: prepared.document,
        operationName: params.operationName ?? null,
        variableValues: params.variables ?? null,
        contextValue: requestContext(ports) as never,
        abortSignal: signal,
        hideSuggestions: !introspection,
        options: { maxCoercionErrors: MAX_ERRORS },
      };
    },
    onOperation: (_request, _args, result: ExecutionResult) =>
      result.errors === undefined ? undefined : { ...result, errors: note(result.errors) },
  });
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const [body] = await handler({
    method: 'POST',
    url: '/graphql',
    headers,
    body: { ...params },
    raw: undefined,
    context: undefined,
  });
  return { body: body ?? '', operation: seen.operation, code: seen.code, failures: seen.failures };
}

type Prepared =
  | { readonly errors: readonly GraphQLError[] }
  | { readonly document: DocumentNode; readonly operation: OperationName };

function prepare(schema: GraphQLSchema, params: GraphqlParams, introspection: boolean): Prepared {
  let document: DocumentNode;
  try {
    document = parse(params.query, { maxTokens: MAX_TOKENS });
  } catch (error) {
    return { errors: [error as GraphQLError] };
  }
  const limit = queryLimitError({ document, variables: params.variables ?? {} });
  if (limit !== undefined) return { errors: [graphqlError('invalid_request', limit)] };
  const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const errors = validate(schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: !introspection });
  if (errors.length > 0) return { errors };
  const operation = getOperationAST(document, params.operationName);
  if (!operation) return { errors: [graphqlError('invalid_request', 'operationName must name one operation of the query')] };
  return { document, operation: operationNameOf(document, operation) };
}

function noted(error: GraphQLError, seen: Seen): GraphQLError {
  if (isInternal(error)) seen.failures.push(error.originalError);
  const shown = publicError(error);
  if (seen.code === '') seen.code = String(shown.extensions['code']);
  return shown;
}
