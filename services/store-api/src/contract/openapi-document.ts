import { createApiDocument, jsonOf } from '@vitrine/http-api/openapi/openapi-document';
import { errorResponse, type ErrorCode } from '@vitrine/stores/resources/error-response';
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import type { ApiRoute, Operation } from './operation.ts';
import { ERROR_RULES, SERVER_STATUSES, outcomesOf } from './error-codes.ts';
import { CONTRACT_HEADERS, idempotencyKeyHeader, ifNoneMatchHeader, requestIdHeader } from './headers.ts';

/** Spec: S1.9, S11.2. */
const CONTRACT_VERSION = '1.0.0-draft';
const KEY = 'apiKey';

const DESCRIPTION =
  'Platform, technologies, catalogue, geography, industry and confirmed changes of ecommerce stores, from completed observations only. Every ' +
  'error has the same envelope; branch on `error.code`. Below `/v1` a key is checked before anything else, except for the four operations ' +
  'without one. HEAD is served for every free GET. Query parameters and fields of a body that are ' +
  'not described are refused and named. Clients must accept unknown fields. Responses above 8 KB are compressed with gzip where ' +
  'Accept-Encoding has it.';

/** The OpenAPI 3.1 document of the whole contract, including operations that this build does not serve. */
export function contractDocument(routes: readonly ApiRoute[], apiUrl: string) {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const { operation, handle } of routes) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation, handle !== undefined) };
  }
  return createApiDocument({
    title: 'Vitrine Store Intelligence API',
    version: CONTRACT_VERSION,
    description: DESCRIPTION,
    url: apiUrl,
    // Additional fields are allowed, so that additive changes do not break clients.
    hasOpenResponses: true,
    paths,
    components: {
      headers: CONTRACT_HEADERS,
      responses: errorResponses(),
      securitySchemes: {
        [KEY]: { type: 'http', scheme: 'bearer', description: 'A workspace API key: `Authorization: Bearer svc_live_...`.' },
      },
    },
  });
}

function describeOperation(operation: Operation, isServed: boolean): ZodOpenApiOperationObject {
  const { operationId, path, summary, scope, units, agentNotes, params, query, body, isIdempotent, isConditional } = operation;
  const header = z.object({
    'x-request-id': requestIdHeader,
    ...(isIdempotent === true && { 'idempotency-key': idempotencyKeyHeader }),
    ...(isConditional === true && { 'if-none-match': ifNoneMatchHeader }),
  });
  return {
    operationId,
    summary,
    tags: [path.split('/')[2]?.replace('.json', '') ?? 'discovery'],
    security: scope === 'none' ? [] : [{ [KEY]: [] }],
    'x-scope': scope,
    'x-billing-unit': units.length === 0 ? 'free' : units.join(', '),
    'x-agent-notes': agentNotes,
    requestParams: { header, ...(params && { path: params }), ...(query && { query }) },
    ...(body && { requestBody: { required: true, content: jsonOf(body) } }),
    responses: responsesOf(operation, isServed),
  };
}

function responsesOf(operation: Operation, isServed: boolean): ZodOpenApiOperationObject['responses'] {
  const { response, scope } = operation;
  const outcomes = isServed
    ? outcomesOf(operation)
    : [...outcomesOf(operation), { status: 501, code: 'not_implemented' as const }];
  const described = [...new Set(outcomes.map(({ status }) => status))].map((status) => {
    if (status >= 400)
      return [status, { $ref: `#/components/responses/${errorName(status, scope !== 'none')}` as const }] as const;
    const headers = headersOf(status, scope !== 'none', operation);
    if (status === 304) return [status, { description: 'The profile has not changed; nothing is billed.', headers }] as const;
    const description = isServed ? 'The response.' : 'Defined by the release that serves it.';
    return [status, { description, headers, ...(response && { content: jsonOf(response) }) }] as const;
  });
  return Object.fromEntries(described) as ZodOpenApiOperationObject['responses'];
}

/** Errors are the same for all operations, except that those with a key have rate headers. */
function errorResponses() {
  const codes = (Object.keys(ERROR_RULES) as ErrorCode[]).map((code) => ({
    status: ERROR_RULES[code].status,
    text: `${code}: ${ERROR_RULES[code].description}`,
  }));
  const ofServer = Object.entries(SERVER_STATUSES).map(([status, text]) => ({
    status: Number(status),
    text: `invalid_request: ${text}`,
  }));
  const responses = [...Map.groupBy([...codes, ...ofServer], ({ status }) => status)].flatMap(([status, described]) =>
    [true, false].map((hasKey) => [
      errorName(status, hasKey),
      {
        description: described.map(({ text }) => text).join(' '),
        headers: headersOf(status, hasKey, { isIdempotent: hasKey && status === 404 }),
        content: jsonOf(errorResponse),
      },
    ]),
  );
  return Object.fromEntries(responses) as Record<string, ZodOpenApiResponseObject>;
}

function errorName(status: number, hasKey: boolean): string {
  return hasKey ? `${status}` : `public_${status}`;
}

function headersOf(
  status: number,
  hasKey: boolean,
  { isIdempotent, isConditional }: Pick<Operation, 'isIdempotent' | 'isConditional'>,
) {
  const names: (keyof typeof CONTRACT_HEADERS)[] = ['X-Request-Id'];
  const isKnownKey = hasKey && status !== 401;
  if (isKnownKey) names.push('X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Usage-Remaining');
  if (status === 429 || (status === 503 && hasKey)) names.push('Retry-After');
  if (status === 405) names.push('Allow');
  if (status === 401) names.push('WWW-Authenticate');
  if (isConditional === true && (status === 200 || status === 304)) names.push('ETag');
  if (status === 200 || status === 304) names.push('Vary');
  if (isIdempotent === true && (status === 200 || status === 404)) names.push('Idempotent-Replayed');
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]));
}
