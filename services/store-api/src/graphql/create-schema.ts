import { invariant } from '@vitrine/faults/invariant';
import { readDateTime } from '@vitrine/http-api/requests/rfc3339';
import { buildSchema, isObjectType, isScalarType, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import type { GraphqlContext } from './graphql-context.ts';
import { graphqlError } from './graphql-error.ts';
import { MUTATION_RESOLVERS } from './mutation-resolvers.ts';
import { QUERY_RESOLVERS } from './query-resolvers.ts';
import { SCHEMA_TEXT } from './schema-text.ts';

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
