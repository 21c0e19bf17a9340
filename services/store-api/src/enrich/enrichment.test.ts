import { expect, test } from '@jest/globals';
import { enrichResponse } from '@vitrine/stores/resources/enrichment';
import { renderProfile } from '@vitrine/stores/profile/render-profile';
import { storeState, URLS } from '@vitrine/stores/testing/store-states';
import { anyCharacter } from '@vitrine/testkit/testing/any-character';
import fc from 'fast-check';
import type { QueuedScan } from '@vitrine/stores/scans/queue-scans';
import { domainsOf, domainsToScan, enrichInputs, entriesOf, renderEnrichment, type Finding } from './enrichment.ts';

const PROFILE = renderProfile(storeState(), [], URLS).text;
const ATTEMPT = { state: 'failed', reason: 'dns', finished_at: '2026-11-26T12:00:00.000Z' } as const;
const FINDINGS = new Map<string, Finding>([
  ['fresh.com', { match: 'matched', profile: PROFILE, lastAttempt: null }],
  ['stale.com', { match: 'stale', profile: PROFILE, lastAttempt: ATTEMPT }],
  ['blog.com', { match: 'no_match', reason: 'not_ecommerce', lastAttempt: null }],
  ['denied.com', { match: 'no_match', reason: 'blocked', lastAttempt: null }],
  ['known.com', { match: 'no_match', reason: 'not_in_corpus', lastAttempt: ATTEMPT }],
]);
const SCANS = new Map<string, QueuedScan>([
  ['stale.com', { scan_job_id: 'job_1', state: 'new' }],
  ['unknown.com', { scan_job_id: 'job_2', state: 'open' }],
  ['known.com', { scan_job_id: 'job_3', state: 'failed' }],
]);
const render = (inputs: readonly string[]) =>
  renderEnrichment({
    request_id: 'req_"1',
    inputs: enrichInputs(inputs),
    findings: FINDINGS,
    scans: SCANS,
    billed: { lookup_cached: 2, lookup_live: 1 },
  }).toString();

test('the response is an EnrichResponse with one result for each input, in their order, for any inputs', () => {
  const domain = fc.constantFrom(...FINDINGS.keys(), 'unknown.com', 'https://www.FRESH.com/path', 'localhost', '10.0.0.1');
  const text = fc.string({ unit: anyCharacter, minLength: 3, maxLength: 253 });
  fc.assert(
    fc.property(fc.array(fc.oneof(domain, text), { minLength: 1, maxLength: 100 }), (inputs) => {
      const json: unknown = JSON.parse(render(inputs));
      const response = enrichResponse.parse(json);
      // Parsing applies the field order of the schema and drops unknown fields.
      expect(JSON.stringify(response)).toBe(JSON.stringify(json));
      expect(response.results.map(({ input }) => input)).toEqual(inputs);
    }),
  );
});

test.each([
  [
    'fresh.com',
    { match: 'matched', reason: null, store: JSON.parse(PROFILE) as unknown, scan_requested: false, scan_job_id: null },
  ],
  [
    'stale.com',
    {
      match: 'stale',
      reason: null,
      store: JSON.parse(PROFILE) as unknown,
      scan_requested: true,
      scan_job_id: 'job_1',
      last_attempt: ATTEMPT,
    },
  ],
  ['unknown.com', { match: 'no_match', reason: 'not_in_corpus', store: null, scan_requested: true, scan_job_id: 'job_2' }],
  [
    'known.com',
    {
      match: 'no_match',
      reason: 'not_in_corpus',
      store: null,
      scan_requested: false,
      scan_job_id: 'job_3',
      last_attempt: ATTEMPT,
    },
  ],
  ['blog.com', { match: 'no_match', reason: 'not_ecommerce', store: null, scan_requested: false, scan_job_id: null }],
  ['denied.com', { match: 'no_match', reason: 'blocked', store: null, scan_requested: false, scan_job_id: null }],
  ['http://localhost/', { match: 'no_match', reason: 'invalid_domain', store: null, scan_requested: false, scan_job_id: null }],
])('the result of %s', (input, expected) => {
  expect(JSON.parse(render([input]))).toEqual({
    request_id: 'req_"1',
    results: [{ input, last_attempt: null, ...expected }],
    billed: { lookup_cached: 2, lookup_live: 1 },
  });
});

test('inputs of the same domain count once; stale and unknown ones can be scanned, and each store and new scan costs a unit', () => {
  const domains = domainsOf(
    enrichInputs([
      'fresh.com',
      'WWW.fresh.com',
      'https://fresh.com/x',
      'stale.com',
      'blog.com',
      'denied.com',
      'known.com',
      'new.com',
      'x',
    ]),
  );
  expect(domains).toEqual(['fresh.com', 'stale.com', 'blog.com', 'denied.com', 'known.com', 'new.com']);
  expect(domainsToScan(domains, FINDINGS)).toEqual(['stale.com', 'known.com', 'new.com']);
  expect(entriesOf(FINDINGS, SCANS)).toEqual([
    { domain: 'fresh.com', unit: 'lookup_cached' },
    { domain: 'stale.com', unit: 'lookup_cached' },
    { domain: 'stale.com', unit: 'lookup_live' },
  ]);
});
