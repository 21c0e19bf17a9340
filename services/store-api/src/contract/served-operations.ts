import { queryParameters } from '@vitrine/http-api/requests/query-shapes';
import { account, usage } from '@vitrine/stores/resources/billing';
import { apiIndex, health, versionIndex } from '@vitrine/stores/resources/discovery';
import { enrichRequest, enrichResponse } from '@vitrine/stores/resources/enrichment';
import { technologyKind } from '@vitrine/stores/resources/enumerations';
import { storeResponse, technologyPage, technologyResource } from '@vitrine/stores/resources/store';
import { z } from 'zod';
import { operation } from './operation.ts';

const { text, oneOf, integerOr } = queryParameters('value');
const KINDS = technologyKind.options;

const PUBLIC = { method: 'GET', scope: 'none', units: [], status: 200, errors: [] } as const;
const KEYED = { method: 'GET', units: [], status: 200 } as const;

/** Any JSON object, because the document describes itself. */
const openapiDocument = z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApiDocument' });

/** Spec: S1.7, S3.1. */
export const getIndex = operation({
  ...PUBLIC,
  operationId: 'getIndex',
  path: '/',
  summary: 'Returns the URLs of the interfaces of this deployment.',
  agentNotes: 'Static: a 200 means only that the host is reachable. Call GET /v1 for the operations of this build.',
  response: apiIndex,
});

/** Spec: S1.8, S3.1, S11.3. */
export const getVersionIndex = operation({
  ...PUBLIC,
  operationId: 'getVersionIndex',
  path: '/v1',
  summary: 'Lists the operations that this build serves.',
  agentNotes: 'An operation of the contract that is missing here answers 501 not_implemented; do not call it.',
  response: versionIndex,
});

/** Spec: S3.1. */
export const getHealth = operation({
  ...PUBLIC,
  operationId: 'getHealth',
  path: '/v1/health',
  summary: 'Returns the build and its detection rules.',
  agentNotes: 'Use it to confirm connectivity before you diagnose an authentication problem. Free, without a key.',
  response: health,
});

/** Spec: S3.1, S3.27, S3.28. */
export const getOpenapi = operation({
  ...PUBLIC,
  operationId: 'getOpenapi',
  path: '/v1/openapi.json',
  summary: 'Returns this document.',
  agentNotes: 'Authoritative for every operation. Read it once, and again when version or build of GET /v1/health changes.',
  response: openapiDocument,
});

/** Spec: S3.2. */
export const getAccount = operation({
  ...KEYED,
  operationId: 'getAccount',
  path: '/v1/account',
  summary: 'Shows workspace, key, plan and the remaining allowance of the billing period.',
  scope: 'any',
  agentNotes:
    'Make it the first call of an integration: it shows scopes, limits and the remaining allowance. Free and safe to repeat. A 401 means that ' +
    'the key is wrong, revoked or expired, not that the service is down.',
  response: account,
  errors: [],
});

/** Spec: S3.2. */
export const getUsage = operation({
  ...KEYED,
  operationId: 'getUsage',
  path: '/v1/usage',
  summary: 'Shows the usage of each key in the billing period.',
  scope: 'any',
  agentNotes: 'Free. Figures can trail the ledger by up to five minutes. Revoked keys that consumed units are listed.',
  response: usage,
  errors: [],
});

/** Spec: S3.3, S3.10 to S3.13. */
export const getStore = operation({
  ...KEYED,
  operationId: 'getStore',
  path: '/v1/stores/{domain}',
  summary: 'Returns the profile of one store.',
  scope: 'read:stores',
  units: ['lookup_cached'],
  agentNotes:
    'Costs one lookup_cached on 200 and nothing otherwise. 404 is free and no evidence that the site is not a store. A technology that is ' +
    'missing was not seen within observation.scope; only scope full supports reading absence. Send If-None-Match with the ETag: 304 is free. ' +
    'For more than a few domains use enrichStores.',
  params: z.object({
    domain: z
      .string()
      .describe(
        'A host name, or a full URL percent-encoded as one path segment; 3 to 253 characters. Canonicalized to its domain.',
      ),
  }),
  isIdempotent: true,
  isConditional: true,
  response: storeResponse,
  errors: ['payment_required', 'not_found', 'conflict'],
});

/** Spec: S3.4, S3.14 to S3.19. */
export const enrichStores = operation({
  operationId: 'enrichStores',
  method: 'POST',
  path: '/v1/stores/enrich',
  summary: 'Returns the profiles of up to 100 domains, and queues scans of those that are unknown or stale.',
  scope: 'read:stores',
  units: ['lookup_cached', 'lookup_live'],
  agentNotes:
    'Costs one lookup_cached for each different store that matched or is stale; no_match is free. refresh also needs the scope ' +
    'write:scans, and costs one lookup_live for each scan that it queues; the response still has current data, so poll getStore some minutes ' +
    'later. Send an Idempotency-Key derived from run id and batch index, and repeat only with it. A batch beyond the allowance is refused ' +
    'whole. Batches have at most plan.limits.enrich_batch_max domains.',
  body: enrichRequest,
  isIdempotent: true,
  status: 200,
  response: enrichResponse,
  errors: ['invalid_request', 'payment_required', 'conflict'],
});

/** Spec: S3.5, S3.20. */
export const listTechnologies = operation({
  ...KEYED,
  operationId: 'listTechnologies',
  path: '/v1/technologies',
  summary: 'Lists the vocabulary of technologies by slug.',
  scope: 'read:stores',
  agentNotes:
    'Free. Follow next_cursor until it is null for the whole vocabulary; a cursor is valid for 24 hours and for the same filters. Slugs are ' +
    'the join key with profiles and signals.',
  query: z.strictObject({
    kind: oneOf(KINDS, `must be one of ${KINDS.join(', ')}`).describe('Only this kind.'),
    category: text(1, 64).describe('Only this category, by its slug.'),
    q: text(2, 64)
      .transform((prefix) => prefix?.toLowerCase())
      .describe('Prefix of name or slug, case-insensitive.'),
    cursor: text(1, 1_024).describe('next_cursor of the previous page.'),
    limit: integerOr(50, 1, 200).describe('Technologies per page.'),
  }),
  response: technologyPage,
  errors: ['invalid_request'],
});

/** Spec: S3.5, S3.21. */
export const getTechnology = operation({
  ...KEYED,
  operationId: 'getTechnology',
  path: '/v1/technologies/{slug}',
  summary: 'Returns one technology of the vocabulary.',
  scope: 'read:stores',
  agentNotes: 'Free. Slugs are stable, so clients can store them.',
  params: z.object({ slug: z.string().describe('Slug of the technology.') }),
  response: technologyResource,
  errors: ['not_found'],
});
