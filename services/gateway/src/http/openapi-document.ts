import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { AdminRoute, Operation } from './admin-route.ts';
import { CORRELATION_HEADER, CORRELATION_ID } from './correlation-id.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ApiDetails {
  readonly version: string;
  /** The header that carries the gateway key. */
  readonly keyHeader: string;
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;

interface Described {
  readonly route: AdminRoute;
  readonly method: (typeof METHODS)[number];
  readonly operation: Operation;
}

/** Spec: gateway, Errors. */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'The request, its query or its body is not valid.',
  401: 'The gateway key is missing or not valid.',
  403: 'The gateway key does not have the permission.',
  404: "There is nothing of this id, or it is another tenant's.",
  405: 'The path has no such method.',
  408: 'The request did not arrive in time.',
  409: 'It is there already.',
  413: 'The body is too large.',
  417: 'The request expects something that cannot be met.',
  429: 'A limit is exceeded.',
  431: 'The headers are too large.',
  500: 'Something went wrong here.',
  501: 'This store cannot do it.',
  503: 'The store, or the verification of keys, is not available.',
};

/** What any request may be answered with, whatever it asks for: it is malformed or has a parameter that is not known, its method is
 *  another one, it is refused before anybody reads it, or something is wrong here. */
const OF_ANY_REQUEST = [400, 405, 408, 417, 431, 500];

const CORRELATION = { [CORRELATION_HEADER]: { $ref: '#/components/headers/Correlation' } };

const errorBody = z
  .strictObject({ error: z.string().describe('What is wrong, in one sentence.') })
  .meta({ id: 'Error', description: 'Why the request was refused.' });

/** Describes the admin API in OpenAPI 3.1, from the same shapes that its routes check by. Shapes with an `id` in their metadata are
 *  its named components. Spec: gateway, Endpoints. */
export function describeApi(routes: readonly AdminRoute[], { version, keyHeader }: ApiDetails): Json {
  const operations = routes.flatMap((route) =>
    METHODS.flatMap((method) => (route[method] === undefined ? [] : { route, method, operation: route[method] })),
  );
  const answers = convert('output', { Error: errorBody, ...shapesOf(operations, ({ answer }) => answer) });
  const bodies = convert(
    'input',
    shapesOf(operations, ({ body }) => body?.shape),
  );
  const queries = convert(
    'input',
    shapesOf(operations, ({ query }) => query),
  );
  const paths: Record<string, Record<string, Json>> = {};
  for (const described of operations) {
    const key = keyOf(described.route, described.method);
    const schemas = { query: queries.schemas[key], body: bodies.schemas[key], answer: answers.schemas[key] };
    const path = described.route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[described.method.toLowerCase()] = describeOperation(described, schemas);
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Vitrine AI traffic gateway, admin API',
      version,
      description:
        'Reads traces and what was made of them, and manages keys. HEAD is answered wherever GET is, OPTIONS below `/api` with 204, ' +
        'another method than those of a path with 405 and `Allow`, an unknown path with 404 (`/api/traces/` is another path than ' +
        '`/api/traces`). Query parameters are given once; an empty one is as good as none, and one that is not described is refused. ' +
        'Bodies are read as JSON in UTF-8 whatever their content type says. All errors have the same shape.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: sorted({ ...bodies.components, ...answers.components }),
      responses: responsesFor(operations.flatMap(({ operation }) => errorsOf(operation))),
      headers: {
        Correlation: {
          description: 'The id of this request in logs, spans and traces.',
          required: true,
          schema: { type: 'string', pattern: CORRELATION_ID.source },
        },
        Allow: { description: 'The methods of the path.', required: true, schema: { type: 'string' } },
      },
      securitySchemes: {
        GatewayKey: {
          type: 'apiKey',
          in: 'header',
          name: keyHeader,
          description:
            'A gateway key; needed when `auth.enabled` is true. It has to hold the permission that an operation names.',
        },
      },
    },
  };
}

function describeOperation(
  { route, method, operation }: Described,
  { query, body, answer }: Readonly<Record<'query' | 'body' | 'answer', Json | undefined>>,
): Json {
  const parameters = [...pathParameters(route), ...queryParameters(query)];
  return {
    operationId: operationIdOf(route, method),
    summary: operation.summary,
    tags: [route.path.split('/')[2]?.replace('.json', '') ?? 'service'],
    security: operation.permission === 'public' ? [] : [{ GatewayKey: [operation.permission] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { content: jsonOf(body) } }),
    responses: {
      [operation.status]: {
        description: operation.status === 204 ? 'Done.' : 'The answer.',
        headers: CORRELATION,
        ...(answer === undefined ? {} : { content: jsonOf(answer) }),
      },
      ...Object.fromEntries(errorsOf(operation).map((code) => [code, { $ref: `#/components/responses/${code}` }])),
    },
  };
}

function keyOf(route: AdminRoute, method: string): string {
  return `${method} ${route.path}`;
}

function shapesOf(operations: readonly Described[], pick: (operation: Operation) => z.ZodType | undefined) {
  return Object.fromEntries(
    operations.flatMap(({ route, method, operation }) => {
      const shape = pick(operation);
      return shape === undefined ? [] : [[keyOf(route, method), shape] as const];
    }),
  );
}

/** Converts many shapes at once, so that what they share is one component. */
function convert(io: 'input' | 'output', shapes: Record<string, z.ZodType>) {
  const { properties = {}, $defs = {} } = z.toJSONSchema(z.object(shapes), {
    io,
    override: ({ jsonSchema }) => {
      // What zod adds to say the same twice, or what every number is bound by.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  const text = JSON.stringify({ schemas: properties, components: $defs }).replaceAll('"#/$defs/', '"#/components/schemas/');
  // A field that exists to be refused is no part of the API.
  const parsed: unknown = JSON.parse(text, (_name, value: unknown) =>
    isDeepStrictEqual(value, { not: {} }) ? undefined : value,
  );
  return parsed as Record<'schemas' | 'components', Record<string, Json>>;
}

function pathParameters(route: AdminRoute): Json[] {
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const param = route.params?.[name];
    const { description, pattern } = typeof param === 'object' ? param : { description: param, pattern: undefined };
    return { name, in: 'path', required: true, description, schema: { type: 'string', pattern } };
  });
}

function queryParameters(query: Json | undefined): Json[] {
  return Object.entries((query?.['properties'] ?? {}) as Record<string, Json>).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description,
    allowEmptyValue: true,
    schema,
  }));
}

/** An operation's own, and those that its permission and what it reads bring with them. */
function errorsOf({ errors, permission, body }: Operation): number[] {
  const all = [
    ...errors,
    ...OF_ANY_REQUEST,
    ...(body === undefined ? [] : [413]),
    ...(permission === 'public' ? [] : [401, 403, 503]),
  ];
  return [...new Set(all)].toSorted((a, b) => a - b);
}

function responsesFor(codes: readonly number[]): Record<string, Json> {
  return Object.fromEntries(
    [...new Set(codes)].map((code) => [
      code,
      {
        description: STATUSES[code] ?? `Status ${code}.`,
        headers: code === 405 ? { ...CORRELATION, Allow: { $ref: '#/components/headers/Allow' } } : CORRELATION,
        content: jsonOf({ $ref: '#/components/schemas/Error' }),
      },
    ]),
  );
}

/** Such as `postTracesByIdFork`. */
function operationIdOf(route: AdminRoute, method: string): string {
  const words = route.path
    .replace(/^\/(api\/)?/, '')
    .replaceAll(/:(\w+)/g, 'by-$1')
    .split(/[^A-Za-z0-9]+/);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return method.toLowerCase() + (name === '' ? 'Service' : name);
}

function jsonOf(schema: Json): Json {
  return { 'application/json': { schema } };
}

function sorted(components: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
