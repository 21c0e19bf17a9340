import { expect, test } from '@jest/globals';
import { extractPageEvidence } from '@vitrine/registry/evidence/extract-page-evidence';
import { generatePage } from '@vitrine/registry/testing/generate-page';
import { RULES } from './run-scan.ts';

const evidence = {
  version: 1,
  pages: [
    extractPageEvidence({
      html: generatePage(20_000),
      url: 'https://example.com/',
      pageClass: 'home',
      headers: { 'x-shopid': '1', server: 'cloudflare' },
      cookies: ['_shopify_y', 'cart'],
    }),
  ],
  endpoints: { 'shopify.myshopify_domain': 'example.myshopify.com' },
};

test('every rule of a sighting is identified by its id, so that observations under other rules can be compared', () => {
  const found = RULES.detect(JSON.parse(JSON.stringify(evidence)));
  const sightings = found?.technologies.flatMap((technology) => technology.sightings) ?? [];
  expect(sightings.length).toBeGreaterThan(5);
  expect(sightings.filter(({ rule }) => !RULES.ids.includes(rule))).toEqual([]);
});

test('evidence of another version is not read', () => {
  expect(RULES.detect({ ...evidence, version: 2 })).toBeUndefined();
  expect(RULES.detect(null)).toBeUndefined();
});
