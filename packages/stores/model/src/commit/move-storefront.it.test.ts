import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importVocabulary } from '../import-vocabulary.ts';
import type { ObservationFacts } from '../observation/observation-facts.ts';
import { store } from '../resources/store.ts';
import { notOpen, observed, seen } from '../testing/observations.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { URLS } from '../testing/store-states.ts';
import { commitObservation, renderStoredProfile } from './commit-observation.ts';
import { lockDomain } from './known-store.ts';

let database: StoreDatabase;
let scanner: PostgresPool;
let day = 0;
beforeAll(async () => {
  database = await storeDatabase();
  await importVocabulary(database.as('vitrine_store_api'), VOCABULARY);
  scanner = database.as('vitrine_enrich', { lockTimeoutMs: 60_000 });
});
afterAll(async () => database[Symbol.asyncDispose]());

const commit = (domain: string, { facts, ...entry }: ReturnType<typeof observed>) =>
  scanner.transaction((transaction) =>
    commitObservation(
      transaction,
      { ...entry, facts: { ...facts, domain }, scan_job_id: null, started_at: 0 },
      { urls: URLS, createStorefrontId: () => `sf_${domain}` },
    ),
  );
const scan = (domain: string, changes: Partial<ObservationFacts> = {}, slugs: string[] = []) =>
  commit(
    domain,
    observed(
      (day += 1),
      slugs.map((slug) => seen(slug)),
      { storefront_host: `www.${domain}`, ...changes },
    ),
  );
const redirected = (domain: string, to: string) => {
  const entry = notOpen((day += 1), 'redirected');
  return commit(domain, { ...entry, facts: { ...entry.facts, permanent_redirect: to } });
};
/** Stores of one brand, scanned in this order. */
async function brandOf(...domains: string[]) {
  const shop = { platform_shop_id: { platform: 'shopify', id: domains.join() } };
  const facts = (domain: string) => ({ ...shop, hreflang_domains: domains.filter((other) => other !== domain) });
  for (const domain of [...domains, ...domains]) await scan(domain, facts(domain));
  return facts;
}
/** The result for a domain: `storefront_id domain`. */
async function answerOf(domain: string): Promise<string> {
  const profile = await profileOf(domain);
  return `${profile.storefront_id} ${profile.domain}`;
}
async function profileOf(domain: string) {
  const [row] = await database.owner.query('SELECT profile, last_completed_scan_at FROM stores WHERE domain = $1', [domain]);
  const profile = store.parse(JSON.parse(String(row?.['profile'])));
  expect(Date.parse(profile.observation.last_completed_scan_at ?? '')).toBe(row?.['last_completed_scan_at']);
  return profile;
}

test('a storefront keeps its id when its domain redirects to another of its group in two scans; both domains return it', async () => {
  const facts = await brandOf('a.com', 'b.com');
  await redirected('a.com', 'b.com');
  expect([await answerOf('a.com'), await answerOf('b.com')]).toEqual(['sf_a.com a.com', 'sf_b.com b.com']);
  await redirected('a.com', 'b.com');
  expect([await answerOf('a.com'), await answerOf('b.com')]).toEqual(['sf_a.com b.com', 'sf_a.com b.com']);
  expect((await profileOf('b.com')).storefront_host).toBe('www.b.com');

  await scan('b.com', facts('b.com'));
  await scan('b.com', facts('b.com'), ['klaviyo']);
  await redirected('a.com', 'b.com');
  const [old, current] = [await profileOf('a.com'), await profileOf('b.com')];
  expect(old).toEqual(current);
  expect(current.technologies.map(({ slug }) => slug)).toEqual(['klaviyo']);
  expect(current.recent_signals.map(({ type }) => type)).toEqual(['technology_added', expect.any(String), expect.any(String)]);
  const render = (domain: string) =>
    scanner.transaction((transaction) => renderStoredProfile(transaction, domain, { ...URLS, console_url: 'https://x.example' }));
  expect(await render('a.com')).toBe(true);
  expect([(await profileOf('a.com')).profile_url, await answerOf('b.com')]).toEqual([
    'https://x.example/stores/b.com',
    'sf_a.com b.com',
  ]);
});

test('a redirect to a domain outside the group, such as a platform, is logged and changes nothing', async () => {
  await brandOf('c.com', 'd.com');
  await scan('platform.com');
  const before = await profileOf('c.com');
  for (const to of ['platform.com', 'platform.com', 'never-seen.com', 'never-seen.com']) await redirected('c.com', to);
  const { observation, ...after } = await profileOf('c.com');
  expect(after).toEqual({
    ...before,
    observation: undefined,
    ...after,
    technologies: before.technologies,
    status: before.status,
  });
  expect([observation.scope, await answerOf('c.com'), await answerOf('platform.com')]).toEqual([
    'homepage_only',
    'sf_c.com c.com',
    'sf_platform.com platform.com',
  ]);
});

test('two redirects that are not consecutive or have different targets move nothing', async () => {
  const facts = await brandOf('e.com', 'f.com', 'g.com');
  await redirected('e.com', 'f.com');
  await scan('e.com', facts('e.com'));
  await redirected('e.com', 'f.com');
  await redirected('e.com', 'g.com');
  expect(await answerOf('e.com')).toBe('sf_e.com e.com');
});

test('the redirecting storefront keeps its id, even if it is younger, and is soon scanned at its new domain', async () => {
  await brandOf('h.com', 'i.com');
  await database.owner.execute(`UPDATE stores SET next_scan_at = now() + interval '7 days'`);
  await redirected('i.com', 'h.com');
  await redirected('i.com', 'h.com');
  expect([await answerOf('h.com'), await answerOf('i.com')]).toEqual(['sf_i.com h.com', 'sf_i.com h.com']);
  const due = await database.owner.query('SELECT domain FROM stores WHERE next_scan_at <= now()');
  expect(due).toEqual([{ domain: 'h.com' }]);
});

test('technologies of the new domain are not additions, because scans of the old one could not have shown them', async () => {
  const facts = await brandOf('q.com', 'r.com');
  await scan('r.com', facts('r.com'), ['klaviyo']);
  for (const from of ['q.com', 'q.com']) await redirected(from, 'r.com');
  const additionsAfter = async (...slugs: string[]) => {
    await scan('r.com', facts('r.com'), slugs);
    const { storefront_id, technologies, recent_signals } = await profileOf('r.com');
    expect([storefront_id, technologies.map(({ slug }) => slug)]).toEqual(['sf_q.com', slugs]);
    return recent_signals.flatMap(({ type, technology }) => (type === 'technology_added' ? [technology] : []));
  };
  expect(await additionsAfter('klaviyo')).toEqual([]);
  expect(await additionsAfter('hotjar', 'klaviyo')).toEqual(['hotjar']);
});

test('chains are followed, loops are not', async () => {
  await brandOf('j.com', 'k.com', 'l.com');
  for (const [from, to] of [
    ['j.com', 'k.com'],
    ['k.com', 'l.com'],
  ] as const) {
    await redirected(from, to);
    await redirected(from, to);
  }
  expect(await Promise.all(['j.com', 'k.com', 'l.com'].map(answerOf))).toEqual(Array(3).fill('sf_j.com l.com'));
  for (const from of ['l.com', 'l.com']) await redirected(from, 'j.com');
  expect(await Promise.all(['j.com', 'k.com', 'l.com'].map(answerOf))).toEqual(Array(3).fill('sf_j.com l.com'));
});

test('a domain that opens again is a separate store', async () => {
  const facts = await brandOf('m.com', 'n.com');
  for (const from of ['m.com', 'm.com']) await redirected(from, 'n.com');
  await scan('m.com', facts('m.com'));
  expect([await answerOf('m.com'), await answerOf('n.com')]).toEqual(['sf_n.com m.com', 'sf_m.com n.com']);
});

test('a move does not wait for a commit of the other domain; it happens with the next scan', async () => {
  await brandOf('o.com', 'p.com');
  await redirected('o.com', 'p.com');
  await database.owner.transaction(async (transaction) => {
    await lockDomain(transaction, 'p.com');
    await redirected('o.com', 'p.com');
  });
  expect(await answerOf('p.com')).toBe('sf_p.com p.com');
  await redirected('o.com', 'p.com');
  expect(await answerOf('p.com')).toBe('sf_o.com p.com');
});
