import { expect, test } from '@jest/globals';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { enrichResponse } from '@vitrine/stores/resources/enrichment';
import { addStores } from './testing/add-stores.ts';
import { startTestStoreApi, type TestStoreApi } from './testing/start-test-store-api.ts';

const GRAPHQL_TOKEN = 'a-service-token-of-32-characters';
const DOMAINS = ['old.com', 'new.com'];

/** The responses of each interface for the old and the new domain of a moved storefront. */
async function answersOf(api: TestStoreApi) {
  const { token } = await api.addKey({ plan: 'pro' });
  const rest = await Promise.all(DOMAINS.map((domain) => api.request(`/v1/stores/${domain}`, { token })));
  const enriched = await api.request('/v1/stores/enrich', { method: 'POST', token, body: { domains: DOMAINS } });
  const fields =
    '{ domain storefrontId name state catalog { productCount } platform { technology { slug } } technologies { active } }';
  const query = `{ old: store(domain: "old.com") ${fields} new: store(domain: "new.com") ${fields} }`;
  const graphql = await api.request('/graphql', { method: 'POST', token: GRAPHQL_TOKEN, body: { query } });
  const pages = await Promise.all(DOMAINS.map((domain) => api.request(`/stores/${domain}`)));
  return {
    rest: rest.map(({ status, json }) => [status, json['store']]),
    enriched: enrichResponse.parse(enriched.json).results.map(({ match, reason, store }) => [match, reason, store]),
    graphql: Object.values(graphql.json['data'] ?? {}) as unknown[],
    pages: pages.map(({ status, text }) => [status, text]),
  };
}

test('both domains of a moved storefront are the same store over every interface, and neither is shown when one is denied', async () => {
  await using api = await startTestStoreApi({ STORE_API_GRAPHQL_SERVICE_TOKEN: GRAPHQL_TOKEN });
  const { owner } = api.database;
  await importVocabulary(api.database.as('vitrine_store_api'), VOCABULARY);
  await addStores(owner, { matched: DOMAINS });
  await owner.execute(`UPDATE stores SET name = 'New', platform = 'shopify', platform_confidence = 'high', state = 'active_storefront',
    platform_first_observed_at = now(), platform_last_confirmed_at = now(), product_count = 7, catalog_as_of = now(), catalog_coverage = 'full'
    WHERE domain = 'new.com'`);
  await owner.execute(`INSERT INTO store_technologies VALUES ('sf_new.com', 'klaviyo', 'active', 'high', now(), now())`);
  await owner.execute(`UPDATE stores a SET moved_to = s.storefront_id, name = 'Old', profile = s.profile, profile_hash = s.profile_hash
    FROM stores s WHERE a.domain = 'old.com' AND s.domain = 'new.com'`);
  const { rest, enriched, graphql, pages } = await answersOf(api);
  expect(rest[0]).toEqual([200, expect.objectContaining({ domain: 'new.com' })]);
  expect(enriched[0]).toEqual(['matched', null, expect.objectContaining({ domain: 'new.com' })]);
  expect(graphql[0]).toMatchObject({
    domain: 'new.com',
    storefrontId: 'sf_new.com',
    name: 'New',
    technologies: [{ active: true }],
  });
  expect(pages[0]).toEqual([200, expect.stringContaining('new.com')]);
  for (const [old, current] of [rest, enriched, graphql, pages]) expect(old).toEqual(current);

  await owner.execute(`INSERT INTO domain_denylist (domain, reason) VALUES ('new.com', 'asked for it')`);
  const denied = await answersOf(api);
  expect(denied.rest.map(([status]) => status)).toEqual([404, 404]);
  expect(denied.enriched).toEqual([
    ['no_match', 'blocked', null],
    ['no_match', 'blocked', null],
  ]);
  expect(denied.graphql).toEqual([null, null]);
  expect(denied.pages.map(([status]) => status)).toEqual([404, 404]);
});
