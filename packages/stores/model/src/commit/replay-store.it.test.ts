import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importVocabulary } from '../import-vocabulary.ts';
import { store } from '../resources/store.ts';
import type { LoggedObservation } from '../signals/derivation-context.ts';
import { observed, PAGES, seen } from '../testing/observations.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { URLS } from '../testing/store-states.ts';
import { claimReplays } from './claim-replays.ts';
import { commitObservation } from './commit-observation.ts';
import { replayStore } from './replay-store.ts';
import type { Rules } from './rule-sets.ts';

let database: StoreDatabase;
let scanner: PostgresPool;
let registries = 0;
let V2: Rules;
beforeAll(async () => {
  database = await storeDatabase();
  await importVocabulary(database.as('vitrine_store_api'), VOCABULARY);
  scanner = database.as('vitrine_enrich', {
    lockTimeoutMs: 60_000,
    statementTimeoutMs: 60_000,
    idleTransactionTimeoutMs: 60_000,
  });
});
afterAll(async () => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.owner.execute('DELETE FROM registry_replays');
  await database.owner.execute('UPDATE derivations SET registry_checksum = NULL');
  await database.owner.execute('DELETE FROM observation_replays');
  await database.owner.execute('TRUNCATE stores CASCADE');
  registries += 1;
  V2 = rulesOf(`v${registries}.2`);
});

/** Rules that find what the evidence names. */
const rulesOf = (registry_checksum: string): Rules => ({
  registry_checksum,
  ids: ['klaviyo:1', 'shopify:1', 'hotjar:1', 'loox:1'],
  detect: (evidence) => {
    const { shows = [] } = evidence as { shows?: string[] };
    return { pages: PAGES, technologies: [seen('shopify', ['home:meta']), ...shows.map((slug) => seen(slug))], withheld: [] };
  },
});
const commit = (domain: string, { facts, ...entry }: LoggedObservation, shows?: readonly string[], rules?: Rules) =>
  scanner.transaction((transaction) =>
    commitObservation(
      transaction,
      {
        ...entry,
        id: `${entry.id}${domain}`,
        facts: { ...facts, domain },
        scan_job_id: null,
        started_at: 0,
        ...(shows === undefined ? {} : { evidence: { shows } }),
      },
      { urls: URLS, createStorefrontId: () => `sf_${domain}`, ...(rules === undefined ? {} : { rules }) },
    ),
  );
const replay = (id: string, rules = V2) =>
  scanner.transaction((transaction) => replayStore(transaction, id, { rules, urls: URLS }));
async function profileOf(domain: string) {
  const [row] = await database.owner.query('SELECT profile FROM stores WHERE domain = $1', [domain]);
  return store.parse(JSON.parse(String(row?.['profile'])));
}
const slugsOf = async (domain: string) => (await profileOf(domain)).technologies.map(({ slug }) => slug);
const additionsOf = async (domain: string) =>
  (await profileOf(domain)).recent_signals.filter(({ type }) => type === 'technology_added').map(({ technology }) => technology);
const registryOf = async (domain: string) =>
  (await database.owner.query('SELECT registry_checksum FROM derivations WHERE storefront_id = $1', [`sf_${domain}`]))[0];

test('a profile follows new rules without a scan, from the evidence of its last scan, without signals', async () => {
  await commit('a.com', observed(1, [seen('klaviyo')]), ['hotjar']);
  const before = await profileOf('a.com');
  expect(await replay('sf_a.com')).toBe(true);
  const after = await profileOf('a.com');
  expect(after.technologies).toMatchObject([{ slug: 'hotjar', first_observed_at: before.technologies[0]?.first_observed_at }]);
  expect([after.recent_signals, after.observation]).toEqual([before.recent_signals, before.observation]);
  expect(await registryOf('a.com')).toEqual({ registry_checksum: V2.registry_checksum });
  expect(await database.owner.query('SELECT slug FROM store_technologies')).toEqual([{ slug: 'hotjar' }]);
  expect(await replay('sf_a.com')).toBe(false);

  const next = observed(2, [seen('hotjar'), seen('loox')], {}, V2.registry_checksum);
  await commit('a.com', next, undefined, V2);
  expect([await slugsOf('a.com'), await additionsOf('a.com')]).toEqual([['hotjar', 'loox'], ['loox']]);
});

test('a store without kept evidence is unchanged and not tried again', async () => {
  await commit('b.com', observed(1, [seen('klaviyo')]));
  expect([await replay('sf_b.com'), await replay('sf_b.com')]).toEqual([true, false]);
  expect(await slugsOf('b.com')).toEqual(['klaviyo']);
});

test('a late observation of earlier rules leaves the store under the current rules', async () => {
  await commit('c.com', observed(3), ['hotjar']);
  await replay('sf_c.com');
  expect(await commit('c.com', observed(2), ['hotjar'], V2)).toMatchObject({ arrival: 'late' });
  expect([await slugsOf('c.com'), await additionsOf('c.com')]).toEqual([['hotjar'], []]);
  expect(await registryOf('c.com')).toEqual({ registry_checksum: V2.registry_checksum });
});

test('replays and commits of a store wait for each other, and the final state matches its log', async () => {
  await commit('d.com', observed(1), ['hotjar']);
  const scans = [2, 3, 4].map((day) => observed(day, [seen('hotjar')], {}, V2.registry_checksum));
  await Promise.all([...scans.map((scan) => commit('d.com', scan, ['hotjar'], V2)), replay('sf_d.com'), replay('sf_d.com')]);
  expect([await slugsOf('d.com'), await additionsOf('d.com')]).toEqual([['hotjar'], []]);
  expect(await registryOf('d.com')).toEqual({ registry_checksum: V2.registry_checksum });
});

test('a former domain keeps the profile of its storefront', async () => {
  await commit('e.com', observed(1), ['hotjar']);
  await commit('f.com', observed(1), []);
  await database.owner.execute(`UPDATE stores SET moved_to = 'sf_f.com' WHERE domain = 'e.com'`);
  for (const id of ['sf_e.com', 'sf_f.com']) await replay(id);
  expect(await profileOf('e.com')).toEqual(await profileOf('f.com'));
});

/** Claims until nothing is left. */
async function claimAll(limit: number, rules = V2, pool = scanner): Promise<string[]> {
  const claimed: string[] = [];
  for (;;) {
    const { storefrontIds, hasMore } = await claimReplays(pool, rules, limit);
    claimed.push(...storefrontIds);
    for (const id of storefrontIds) await replay(id, rules);
    if (!hasMore) return claimed;
  }
}
const add = (count: number) =>
  database.owner.execute(
    `WITH added AS (INSERT INTO stores (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce)
       SELECT 'sf_' || lpad(i::text, 5, '0'), i || '.com', '', 'candidate', now(), false FROM generate_series(1, $1::integer) AS i RETURNING storefront_id)
     INSERT INTO derivations (storefront_id, state) SELECT storefront_id, '{"version":0}' FROM added`,
    [count],
  );
const progress = async (rules = V2) => {
  const text = 'SELECT remaining, finished_at IS NOT NULL AS finished FROM registry_replays WHERE registry_checksum = $1';
  return (await database.owner.query(text, [rules.registry_checksum]))[0];
};

test('several processes share the stores, each once, and report how many are left', async () => {
  await add(1_200);
  expect(await claimReplays(scanner, V2, 7)).toMatchObject({ storefrontIds: { length: 7 }, remaining: 1_193 });
  await database.owner.execute('UPDATE registry_replays SET after_storefront_id = $1, remaining = 1200', ['']);
  const claimed = (await Promise.all([claimAll(100), claimAll(70), claimAll(30)])).flat();
  expect(new Set(claimed).size).toBe(1_200);
  await database.owner.execute(`UPDATE registry_replays SET next_pass_at = '-infinity'`);
  await claimAll(100);
  expect(await progress()).toEqual({ remaining: 0, finished: true });
  expect(await claimReplays(scanner, V2, 100)).toEqual({ storefrontIds: [], hasMore: false, remaining: 0 });
});

test('claimed but unreplayed stores are taken in a later pass', async () => {
  await add(3);
  await claimReplays(scanner, V2, 2);
  expect(await claimAll(2)).toEqual(['sf_00003']);
  expect(await progress()).toEqual({ remaining: 2, finished: false });
  expect(await claimAll(2)).toEqual([]);
  await database.owner.execute(`UPDATE registry_replays SET next_pass_at = '-infinity'`);
  expect(await claimAll(2)).toEqual(['sf_00001', 'sf_00002']);
  expect(await progress()).toEqual({ remaining: 0, finished: true });
});

test('while two versions run, stores follow only the newer registry', async () => {
  await add(2);
  const older = rulesOf('older');
  await claimAll(1, older);
  await database.owner.execute(`UPDATE registry_replays SET first_seen_at = now() - interval '1 hour'`);
  expect(await claimAll(1)).toHaveLength(2);
  await database.owner.execute(
    `UPDATE registry_replays SET finished_at = NULL, after_storefront_id = '', next_pass_at = '-infinity'`,
  );
  expect(await claimReplays(scanner, older, 1)).toEqual({ storefrontIds: [], hasMore: false, remaining: 0 });
});
