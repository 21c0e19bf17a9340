import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { createDocument, type ZodObjectInput, type ZodOpenApiOperationObject, type ZodOpenApiOverride } from 'zod-openapi';
import { CORRELATION_ID } from '../correlation-id.ts';
import type { Operation, Route } from '../route.ts';
import type { ApiDescription } from './api-description.ts';
import { ERROR_STATUSES, errorStatusesOf } from './error-statuses.ts';

/** A route of any service: the document does not depend on identities. */
export type DocumentedRoute = Route<never, string>;

const METHODS = ['GET', 'POST', 'DELETE'] as const;

const RULES =
  'HEAD is served wherever GET is. OPTIONS below `/api` returns 204, a method that a path does not have 405 with `Allow`, an unknown path 404 ' +
  '(`/api/x/` is another path than `/api/x`). A query parameter is given once; an empty one counts as absent, and one that is not described ' +
  'is rejected. Bodies are read as JSON in UTF-8 whatever their content type. All errors have the same shape.';

const errorBody = z
  .strictObject({ error: z.string().describe('What is wrong, in one sentence.') })
  .meta({ id: 'Error', description: 'Why the request was rejected.' });

/** Generates the OpenAPI 3.1 document of an API from the shapes by which its routes parse. Shapes with an `id` in their metadata are its named
 *  components. */
export function describeApi(routes: readonly DocumentedRoute[], description: ApiDescription) {
  const { title, version, summary, security } = description;
  const paths = routes.map((route) => [route.path.replaceAll(/:(\w+)/g, '{$1}'), describePath(route, description)] as const);
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title,
        version,
        description: `${summary} ${RULES}`,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      paths: Object.fromEntries(paths),
      components: {
        responses: errorResponses(routes, description),
        headers: {
          Correlation: {
            description: 'The id of this request in logs, spans and traces.',
            required: true,
            schema: { type: 'string', pattern: CORRELATION_ID.source },
          },
          Allow: { description: 'The methods of the path.', required: true, schema: { type: 'string' } },
        },
        ...(security && {
          securitySchemes: {
            [security.name]: { type: 'apiKey', in: 'header', name: security.header, description: security.description },
          },
        }),
      },
    },
    { override },
  );
}

/** Removes what would say the same twice, and fields that exist to be rejected. */
const override: ZodOpenApiOverride = ({ jsonSchema }) => {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  // A parameter's description is beside its schema.
  if (jsonSchema['param'] !== undefined) delete jsonSchema.description;
  const { properties = {} } = jsonSchema;
  for (const [name, schema] of Object.entries(properties)) if (isDeepStrictEqual(schema, { not: {} })) delete properties[name];
};

function describePath(route: DocumentedRoute, description: ApiDescription): Record<string, ZodOpenApiOperationObject> {
  const operations = METHODS.flatMap((method) => {
    const operation = route[method];
    return operation === undefined ? [] : [[method.toLowerCase(), describeOperation(route, method, operation, description)]];
  });
  return Object.fromEntries(operations) as Record<string, ZodOpenApiOperationObject>;
}

function describeOperation(
  route: DocumentedRoute,
  method: string,
  operation: Operation<never, string>,
  { correlationHeader, security }: ApiDescription,
): ZodOpenApiOperationObject {
  const { summary, permission, query, body, status, response } = operation;
  return {
    operationId: operationIdOf(route.path, method),
    summary,
    tags: [route.path.split('/')[2]?.replace('.json', '') ?? 'service'],
    security: permission === 'public' || security === undefined ? [] : [{ [security.name]: [permission] }],
    ...((route.params ?? query) && {
      requestParams: { ...(route.params && { path: route.params }), ...(query && { query: query as ZodObjectInput }) },
    }),
    ...(body && { requestBody: { content: jsonOf(body.shape) } }),
    responses: {
      [status]: {
        description: status === 204 ? 'Done.' : 'The response.',
        headers: correlation(correlationHeader),
        ...(response && { content: jsonOf(response) }),
      },
      ...Object.fromEntries(errorStatusesOf(operation).map((error) => [error, { $ref: `#/components/responses/${error}` }])),
    },
  };
}

function errorResponses(routes: readonly DocumentedRoute[], { correlationHeader, statuses }: ApiDescription) {
  const used = routes.flatMap((route) => METHODS.flatMap((method) => (route[method] ? errorStatusesOf(route[method]) : [])));
  return Object.fromEntries(
    [...new Set(used)].map((status) => [
      status,
      {
        description: statuses?.[status] ?? ERROR_STATUSES[status] ?? `Status ${status}.`,
        headers: {
          ...correlation(correlationHeader),
          ...(status === 405 ? { Allow: { $ref: '#/components/headers/Allow' } as const } : {}),
        },
        content: jsonOf(errorBody),
      },
    ]),
  );
}

function correlation(header: string) {
  return { [header]: { $ref: '#/components/headers/Correlation' } as const };
}

/** Such as `postTracesByIdFork`. */
function operationIdOf(path: string, method: string): string {
  const words = path
    .replace(/^\/(api\/)?/, '')
    .replaceAll(/:(\w+)/g, 'by-$1')
    .split(/[^A-Za-z0-9]+/);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return method.toLowerCase() + (name === '' ? 'Service' : name);
}

function jsonOf(schema: z.ZodType) {
  return { 'application/json': { schema } };
}
