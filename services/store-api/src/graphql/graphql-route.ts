import type { Secret } from '@vitrine/config/secret';
import { codeOf, isFault } from '@vitrine/faults/fault';
import { NO_QUERY, parseSearch, readQuery } from '@vitrine/http-api/requests/query-shapes';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { Logger } from '@vitrine/telemetry/logger';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { ResponsePacer } from '../admission/response-pacer.ts';
import { FAULT_CODES, errorBody } from '../contract/error-codes.ts';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { PlainExchange, PlainOutcome, PlainRoute } from '../http/plain-route.ts';
import { readBody } from '../http/read-request.ts';
import { RequestDeadline } from '../http/request-deadline.ts';
import { sendResponse } from '../http/send-response.ts';
import { executeGraphql, type GraphqlOptions } from './execute-graphql.ts';
import type { GraphqlPorts, GraphqlContext } from './graphql-context.ts';
import { GRAPHQL_CODES, graphqlError } from './graphql-error.ts';
import { OPERATION_NAMES } from './operation-name.ts';
import { createHash, timingSafeEqual } from 'node:crypto';
import { invariant } from '@vitrine/faults/invariant';
import { readDateTime } from '@vitrine/http-api/requests/rfc3339';
import { buildSchema, isObjectType, isScalarType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { MUTATION_RESOLVERS } from './mutation-resolvers.ts';
import { QUERY_RESOLVERS } from './query-resolvers.ts';
import { SCHEMA_TEXT } from './schema-text.ts';

const JSON_TYPE = 'application/json';
const UNAUTHORIZED =
  'The service token is missing or wrong: send Authorization: Bearer <SERVICE_TOKEN>. A workspace API key is not accepted.';

const graphqlParams = z.strictObject({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
  /** Allowed but ignored (GraphQL over HTTP, Request Parameters). */
  extensions: z.record(z.string(), z.unknown()).nullish(),
});

interface GraphqlRouteOptions {
  readonly serviceToken: Secret | undefined;
  readonly introspection: boolean;
  readonly ports: GraphqlPorts;
  /** Delays responses to calls without the service token. */
  readonly refusals: Pick<ResponsePacer, 'pace'>;
  readonly logger: Logger;
}

/** `POST /graphql`, for first-party surfaces. A request that is not valid GraphQL over HTTP gets the error envelope. Errors of a GraphQL request
 *  are in its response with status 200. Spec: S3.6, S10.1. */
export function graphqlRoute({ serviceToken, introspection, ports, refusals, logger }: GraphqlRouteOptions): PlainRoute {
  const isServiceToken = serviceTokenCheck(serviceToken);
  const options: GraphqlOptions = { schema: createSchema(), ports, introspection };
  const handle: PlainRoute['handle'] = async (request, response, exchange) => {
    if (isServiceToken(request.headersDistinct['authorization'] ?? []))
      return serve(options, logger, request, response, exchange);
    await refusals.pace(response);
    const refused = { operationId: 'graphql.invalid', code: 'unauthorized', reason: 'service_token' } as const;
    if (response.closed) return { ...refused, status: 0 };
    const { requestId } = exchange;
    const body = JSON.stringify(errorBody('unauthorized', UNAUTHORIZED, requestId));
    const headers = [REQUEST_ID_HEADER, requestId, 'WWW-Authenticate', 'Bearer'];
    await sendResponse(request, response, { status: 401, headers, body, type: JSON_TYPE });
    return refused;
  };
  return { methods: ['POST'], path: '/graphql', operationId: 'graphql.invalid', counted: GRAPHQL_OPERATIONS, handle };
}

/** Every operation and code that the route counts. */
const GRAPHQL_OPERATIONS = OPERATION_NAMES.map((name) => ({
  operationId: `graphql.${name}`,
  outcomes: ['', ...GRAPHQL_CODES].map((code) => ({ status: 200, code })),
}));

async function serve(
  options: GraphqlOptions,
  logger: Logger,
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, search }: PlainExchange,
): Promise<PlainOutcome> {
  const headers = [REQUEST_ID_HEADER, requestId];
  using deadline = new RequestDeadline();
  const ending = new AbortController();
  response.once('close', () => {
    deadline.clientLeft();
    ending.abort();
  });
  let operationId = 'graphql.invalid';
  try {
    readQuery(NO_QUERY, parseSearch(search));
    const params = (await deadline.race(readBody(graphqlParams, request))) as z.output<typeof graphqlParams>;
    const outcome = await deadline.race(executeGraphql(options, params, ending.signal));
    operationId = `graphql.${outcome.operation}`;
    for (const error of outcome.failures)
      logger.error(
        { request_id: requestId, operation: outcome.operation, ...databaseErrorFields(error) },
        'GraphQL field failed',
      );
    await sendResponse(request, response, { status: 200, headers, body: outcome.body, type: JSON_TYPE });
    return { operationId, code: outcome.code };
  } catch (error) {
    if (deadline.isOver) ending.abort();
    if (codeOf(error) === 'client_left') return { operationId, code: '', status: 0 };
    if (!isFault(error) || error.code === 'body_timeout' || FAULT_CODES[error.code] !== 'invalid_request') throw error;
    const body = JSON.stringify(errorBody('invalid_request', error.say, requestId));
    await sendResponse(request, response, { status: 400, headers, body, type: JSON_TYPE });
    return { operationId, code: 'invalid_request' };
  }
}

const BEARER = /^Bearer +(\S+)$/i;

/** Returns a check of `Authorization` header values against the service token, in constant time. Without a configured token it rejects
 *  every request. */
export function serviceTokenCheck(token: Secret | undefined): (authorization: readonly string[]) => boolean {
  const expected = token === undefined ? undefined : digestOf(token.reveal());
  return (authorization) => {
    const [, sent = ''] = (authorization.length === 1 && BEARER.exec(authorization[0] ?? '')) || [];
    return expected !== undefined && timingSafeEqual(digestOf(sent), expected);
  };
}

/** Hashes have a fixed length for any input. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

type FieldResolver = GraphQLFieldResolver<unknown, GraphqlContext>;

/** The schema of `/graphql` with its resolvers. */
export function createSchema(): GraphQLSchema {
  const schema = buildSchema(SCHEMA_TEXT);
  const resolvers = { ...QUERY_RESOLVERS, ...MUTATION_RESOLVERS } as unknown;
  for (const [typeName, fields] of Object.entries(resolvers as Record<string, Record<string, FieldResolver>>)) {
    const type = schema.getType(typeName);
    invariant(isObjectType(type), `${typeName} is a type of the schema`);
    for (const [name, resolve] of Object.entries(fields)) {
      const field = type.getFields()[name];
      invariant(field !== undefined, `${typeName}.${name} is a field of the schema`);
      field.resolve = resolve as GraphQLFieldResolver<unknown, unknown>;
    }
  }
  const dateTime = schema.getType('DateTime');
  invariant(isScalarType(dateTime), 'DateTime is a scalar of the schema');
  dateTime.coerceOutputValue = (ms) => new Date(Number(ms)).toISOString();
  dateTime.coerceInputValue = readTime;
  return schema;
}

/** Milliseconds since the epoch. */
function readTime(value: unknown): number {
  const moment = typeof value === 'string' ? readDateTime(value) : undefined;
  if (moment === undefined)
    throw graphqlError('invalid_request', 'a DateTime must be a date-time of RFC 3339, such as 2026-01-31T10:00:00Z');
  return moment.ms;
}
