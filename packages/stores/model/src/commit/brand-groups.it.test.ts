import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importVocabulary } from '../import-vocabulary.ts';
import type { ObservationFacts } from '../observation/observation-facts.ts';
import { store } from '../resources/store.ts';
import { observed } from '../testing/observations.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { URLS } from '../testing/store-states.ts';
import { commitObservation } from './commit-observation.ts';
import { lockDomain } from './known-store.ts';

let database: StoreDatabase;
let scanner: PostgresPool;
let n = 0;
beforeAll(async () => {
  database = await storeDatabase();
  await importVocabulary(database.as('vitrine_store_api'), VOCABULARY);
  scanner = database.as('vitrine_enrich', { lockTimeoutMs: 60_000 });
});
afterAll(async () => database[Symbol.asyncDispose]());

async function scan(domain: string, changes: Partial<ObservationFacts> = {}): Promise<void> {
  const day = (n += 1);
  const observation = { ...observed(day, [], { ...changes, domain }), scan_job_id: null, started_at: 0 };
  await scanner.transaction((transaction) =>
    commitObservation(transaction, observation, { urls: URLS, createStorefrontId: () => `sf_${domain}` }),
  );
}
/** The group in the row and in the profile. */
async function groupOf(domain: string): Promise<string | null> {
  const [row] = await database.owner.query('SELECT brand_group_id, profile FROM stores WHERE domain = $1', [domain]);
  const profile = store.parse(JSON.parse(String(row?.['profile'])));
  expect(profile.brand_group_id).toBe(row?.['brand_group_id']);
  return profile.brand_group_id;
}
const shop = (id: string) => ({ platform_shop_id: { platform: 'shopify', id } });
const alternates = (...hreflang_domains: string[]) => ({ hreflang_domains });

test('regional stores of one shop that name each other are one brand group, in any scan order', async () => {
  await scan('a.de', { ...shop('1'), ...alternates('a.fr', 'a.it') });
  await scan('a.fr', { ...shop('1'), ...alternates('a.de', 'a.it') });
  const group = await groupOf('a.de');
  expect(group).toMatch(/^bg_[0-9a-z]{26}$/);
  await scan('a.it', { ...shop('1'), ...alternates('a.de', 'a.fr') });
  expect(new Set([await groupOf('a.de'), await groupOf('a.fr'), await groupOf('a.it')])).toEqual(new Set([group]));
  await scan('a.de');
  expect(await groupOf('a.de')).toBe(group);
});

test('neither one fact nor one-sided alternates form a group', async () => {
  await scan('b.com', { ...shop('2'), ...alternates('c.com') });
  await scan('c.com', shop('2'));
  await scan('d.com', alternates('b.com'));
  expect([await groupOf('b.com'), await groupOf('c.com'), await groupOf('d.com')]).toEqual([null, null, null]);
});

test('two groups merge when a store belongs to both', async () => {
  const vat = (id: string) => ({ organization: { name: null, url: null, identifiers: [id] } });
  await scan('e1.com', { ...shop('3'), ...vat('vatID:1') });
  await scan('e2.com', { ...shop('3'), ...vat('vatID:1') });
  await scan('f1.com', { ...vat('vatID:2'), ...alternates('f2.com', 'g.com') });
  await scan('f2.com', { ...vat('vatID:2'), ...alternates('f1.com') });
  expect(await groupOf('e1.com')).not.toBe(await groupOf('f1.com'));
  await scan('g.com', {
    ...shop('3'),
    ...alternates('f1.com'),
    organization: { name: null, url: null, identifiers: ['vatID:1', 'vatID:2'] },
  });
  for (const domain of ['f1.com', 'f2.com', 'e2.com']) await scan(domain);
  const groups = await Promise.all(['e1.com', 'e2.com', 'f1.com', 'g.com'].map(groupOf));
  expect(new Set(groups).size).toBe(1);
});

test('a store that is being committed does not delay others: it joins with its next scan', async () => {
  await scan('h1.com', { ...shop('4'), ...alternates('h2.com') });
  await database.owner.transaction(async (transaction) => {
    await lockDomain(transaction, 'h1.com');
    await scan('h2.com', { ...shop('4'), ...alternates('h1.com') });
  });
  expect(await groupOf('h1.com')).toBeNull();
  await scan('h1.com', { ...shop('4'), ...alternates('h2.com') });
  expect(await groupOf('h1.com')).toBe(await groupOf('h2.com'));
});
