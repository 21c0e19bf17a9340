import { expect, test } from '@jest/globals';
import type { z } from 'zod';
import { account, planLimits, period, unitCounts, usage } from './billing.ts';
import { apiIndex, health, versionIndex } from './discovery.ts';
import { enrichRequest, enrichResponse } from './enrichment.ts';
import { errorResponse } from './error-response.ts';
import { storeResponse, technologyPage, technologyResource } from './store.ts';

const fieldsOf = ({ shape }: z.ZodObject) => Object.keys(shape).join(' ');

test.each<[z.ZodObject, string]>([
  [storeResponse, 'match store'],
  [technologyResource, 'slug name kind category vendor website listing_url'],
  [technologyPage, 'data next_cursor'],
  [account, 'workspace key plan period'],
  [account.shape.key, 'id label prefix environment scopes expires_at'],
  [planLimits, 'rpm concurrency enrich_batch_max freshness_days history_days live_refreshes_per_period'],
  [period, 'starts_at ends_at included used'],
  [unitCounts, 'lookup_cached lookup_live history_query refresh_requested'],
  [usage, 'period by_key'],
  [usage.shape.by_key.element, 'key_id label used'],
  [enrichRequest, 'domains refresh'],
  [enrichResponse, 'request_id results billed'],
  [enrichResponse.shape.results.element, 'input match reason store scan_requested scan_job_id last_attempt'],
  [health, 'ok service version build registry_checksum'],
  [apiIndex, 'name description documentation_url rest graphql'],
  [versionIndex, 'version documentation_url openapi_url endpoints authentication'],
])('resource %# has the fields of the specification, in their order', (shape, fields) => {
  expect(fieldsOf(shape)).toBe(fields);
});

test.each([
  ['no domains', { domains: [] }],
  ['101 domains', { domains: Array.from({ length: 101 }, () => 'example.com') }],
  ['a domain of 2 characters', { domains: ['ab'] }],
  ['a domain of 254 characters', { domains: ['a'.repeat(254)] }],
  ['a refresh that is a text', { domains: ['example.com'], refresh: 'true' }],
])('a request to enrich with %s is invalid', (_, body) => {
  expect(enrichRequest.safeParse(body).success).toBe(false);
});

test('refresh is false by default, and an omitted one equals it', () => {
  expect(enrichRequest.parse({ domains: ['example.com'] })).toEqual({ domains: ['example.com'], refresh: false });
});

test('an error has code, message and request_id, and optionally reset_at', () => {
  const error = { code: 'payment_required', message: 'm', request_id: 'req_1', reset_at: '2026-02-01T00:00:00.000Z' };
  expect(errorResponse.parse({ error })).toEqual({ error });
  expect(errorResponse.safeParse({ error: { ...error, code: 'other' } }).success).toBe(false);
});
