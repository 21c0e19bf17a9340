import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  createDocument,
  type ZodObjectInput,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
} from 'zod-openapi';
import { CORRELATION_ID } from '../correlation-id.ts';
import type { Operation, Route } from '../route.ts';

/** A route of any service, because the document does not depend on identities. */
export type DocumentedRoute = Route<never, string>;

const METHODS = ['GET', 'POST', 'DELETE'] as const;

const RULES =
  'HEAD is served wherever GET is. OPTIONS below `/api` returns 204, a method that a path does not have 405 with `Allow`, an unknown path 404 ' +
  '(`/api/x/` is another path than `/api/x`). A query parameter is given once; an empty one counts as absent, and one that is not described ' +
  'is rejected. Bodies are read as JSON in UTF-8 whatever their content type. All errors have the same shape.';

const errorBody = z
  .strictObject({ error: z.string().describe('The error, in one sentence.') })
  .meta({ id: 'Error', description: 'Why the request was rejected.' });

/** Generates the OpenAPI 3.1 document of an API from the schemas with which its routes parse. Schemas with an `id` in their metadata become named
 *  components. */
export function describeApi(routes: readonly DocumentedRoute[], description: ApiDescription) {
  const { title, version, summary, security } = description;
  const paths = routes.map((route) => [route.path.replaceAll(/:(\w+)/g, '{$1}'), describePath(route, description)] as const);
  return createApiDocument({
    title,
    version,
    description: `${summary} ${RULES}`,
    url: '/',
    paths: Object.fromEntries(paths),
    components: {
      responses: errorResponses(routes, description),
      headers: {
        Correlation: {
          description: 'The id of this request in logs, spans and traces.',
          required: true,
          schema: { type: 'string', pattern: CORRELATION_ID.source },
        },
        Allow: { description: 'The methods that the path supports.', required: true, schema: { type: 'string' } },
      },
      ...(security && {
        securitySchemes: {
          [security.name]: { type: 'apiKey', in: 'header', name: security.header, description: security.description },
        },
      }),
    },
  });
}

interface ApiDocument extends Pick<ZodOpenApiObject, 'paths' | 'components'> {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Of the server. */
  readonly url: string;
  /** Whether clients must accept response fields that the document does not have. */
  readonly hasOpenResponses?: boolean;
}

/** The OpenAPI 3.1 document of any API of Vitrine. */
export function createApiDocument({ title, version, description, url, hasOpenResponses = false, ...described }: ApiDocument) {
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
  const override: ZodOpenApiOverride = ({ jsonSchema, io }) => {
    if (hasOpenResponses && io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    simplify(jsonSchema);
  };
  const info = { title, version, description, license };
  return createDocument({ openapi: '3.1.1', info, servers: [{ url }], ...described }, { override });
}

/** Removes duplicate information, and fields that exist only to be rejected. */
function simplify(jsonSchema: Parameters<ZodOpenApiOverride>[0]['jsonSchema']): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  // A parameter's description is beside its schema.
  if (jsonSchema['param'] !== undefined) delete jsonSchema.description;
  const { properties = {} } = jsonSchema;
  for (const [name, schema] of Object.entries(properties)) if (isDeepStrictEqual(schema, { not: {} })) delete properties[name];
}

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

/** The content of a body in JSON. */
export function jsonOf(schema: z.ZodType) {
  return { 'application/json': { schema } };
}

/** The parts of an API's document other than its routes. */
export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  /** One sentence, before the rules that all APIs follow. */
  readonly summary: string;
  /** The response header that carries the correlation id; also the first request header from which one is accepted. */
  readonly correlationHeader: string;
  /** How callers authenticate; absent for a service without authorization. */
  readonly security?: SecurityScheme;
  /** Descriptions of error statuses that differ from the general ones. */
  readonly statuses?: Readonly<Record<number, string>>;
}

interface SecurityScheme {
  readonly name: string;
  /** The request header that carries the credential. */
  readonly header: string;
  readonly description: string;
}

/** Descriptions of error statuses; a service may have its own. */
const ERROR_STATUSES: Readonly<Record<number, string>> = {
  400: 'The request, its query or its body is not valid.',
  401: 'The credential is missing or not valid.',
  403: 'The caller does not have the permission.',
  404: 'Nothing has this id, or it belongs to another tenant.',
  405: 'The path does not support the method.',
  408: 'The request did not arrive in time.',
  409: 'It already exists.',
  413: 'The body is too large.',
  417: 'The expectation of the request cannot be met.',
  431: 'The headers are too large.',
  500: 'The service failed.',
  501: 'The service does not support the operation.',
  503: 'The service is not available.',
};

/** Possible for every request: it is malformed or has an unknown parameter, its method is not supported, it is rejected before routing, or the
 *  service fails. */
const OF_ANY_REQUEST = [400, 405, 408, 417, 431, 500];

/** An operation's own error statuses, and those of its permission and its body. */
function errorStatusesOf({ errors, permission, body }: Pick<Operation<never, string>, 'errors' | 'permission' | 'body'>) {
  const statuses = [
    ...errors,
    ...OF_ANY_REQUEST,
    ...(body === undefined ? [] : [413]),
    ...(permission === 'public' ? [] : [401, 403, 503]),
  ];
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}
