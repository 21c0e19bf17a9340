import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { randomBytes } from 'node:crypto';
import { commitDemoStore } from '../demo/demo-store.ts';
import { DEMO_FACTS } from '../demo/demo-facts.ts';
import { importVocabulary } from '../import-vocabulary.ts';
import { renderProfile } from '../profile/render-profile.ts';
import { store } from '../resources/store.ts';
import { queueScans } from '../scans/queue-scans.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { DAY_MS, idOf, signal, T0, URLS } from '../testing/store-states.ts';
import { commitObservation, lockStore, renderStoredProfile } from './commit-observation.ts';
import { firstObservation, type StoreChange } from './first-observation.ts';
import type { Observation } from './observation.ts';
import { readRecentSignals, readStoreState } from './store-rows.ts';

let database: StoreDatabase;
let scanner: PostgresPool;
let n = 0;
beforeAll(async () => {
  database = await storeDatabase();
  await importVocabulary(database.as('vitrine_store_api'), VOCABULARY);
  scanner = database.as('vitrine_enrich');
});
afterAll(async () => database[Symbol.asyncDispose]());

const observationOf = (domain: string, changes: Partial<Observation> = {}): Observation => ({
  id: idOf('obs', (n += 1)),
  scan_job_id: null,
  started_at: T0,
  completed_at: T0 + 1_000,
  registry_checksum: 'sha256:0',
  facts: { ...DEMO_FACTS, domain },
  evidence: { hosts: ['cdn.example.com'] },
  ...changes,
});
const storefrontOf = (domain: string) => `sf_${domain}`;
const commitFirst = (observation: Observation) =>
  scanner.transaction((transaction) =>
    commitObservation(transaction, observation, firstObservation(observation, storefrontOf(observation.facts.domain)), URLS),
  );
const rowOf = async (domain: string) => (await database.owner.query('SELECT * FROM stores WHERE domain = $1', [domain]))[0];

describe('a committed observation', () => {
  test('is the state of its store, its signals and the profile that shows both', async () => {
    const observation = observationOf('a.com');
    const profile = await commitFirst(observation);
    const { state, signals } = firstObservation(observation, 'sf_a.com');
    expect(await readStoreState(scanner, 'sf_a.com')).toEqual(state);
    expect(await readRecentSignals(scanner, 'sf_a.com')).toEqual(signals.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    expect(profile).toEqual(renderProfile(state, signals, URLS));
    expect(await rowOf('a.com')).toMatchObject({
      profile: profile?.text,
      profile_hash: profile?.hash,
      last_observation_id: observation.id,
      first_observed_at: T0 + 1_000,
    });
    const [logged] = await scanner.query('SELECT * FROM observations WHERE id = $1', [observation.id]);
    expect(logged).toMatchObject({
      facts: observation.facts,
      evidence: observation.evidence,
      scope: 'full',
      storefront_id: 'sf_a.com',
    });
    expect(signals.map(({ type }) => type)).toEqual(['store_first_observed', 'store_became_active']);
  });

  test('changes everything or nothing', async () => {
    const observation = observationOf('b.com');
    const change = firstObservation(observation, 'sf_b.com');
    const broken: StoreChange = { ...change, signals: [signal(1, { technology: 'not-in-the-vocabulary' })] };
    await expect(
      scanner.transaction((transaction) => commitObservation(transaction, observation, broken, URLS)),
    ).rejects.toMatchObject({
      code: '23503',
    });
    expect(await rowOf('b.com')).toBeUndefined();
    expect(await scanner.query('SELECT FROM observations WHERE id = $1', [observation.id])).toEqual([]);
  });

  test('without commerce is kept and has no profile', async () => {
    const observation = observationOf('c.com');
    const facts = {
      ...observation.facts,
      shows_commerce: false,
      shows_products: false,
      technologies: [],
      catalog: null,
    };
    expect(await commitFirst({ ...observation, facts })).toBeUndefined();
    expect(await rowOf('c.com')).toMatchObject({ is_ecommerce: false, profile: null, last_completed_scan_at: T0 + 1_000 });
    expect(await readRecentSignals(scanner, 'sf_c.com')).toEqual([]);
  });

  test('after another one keeps what was first observed, shows its signals, and what was removed as inactive', async () => {
    await commitFirst(observationOf('d.com'));
    const later = observationOf('d.com', { completed_at: T0 + DAY_MS });
    await scanner.transaction(async (transaction) => {
      const known = await lockStore(transaction, 'd.com');
      const before = known?.state;
      if (known === undefined || before === undefined) throw new Error('the store is not there');
      const state = {
        ...before,
        technologies: before.technologies.map((one) => ({ ...one, install_state: 'inactive' as const })),
        observation: { ...before.observation, last_completed_scan_at: later.completed_at },
      };
      const removed = signal(2, { type: 'technology_removed', confirmed_at: later.completed_at });
      await commitObservation(transaction, later, { state, signals: [removed, removed] }, URLS);
    });
    const row = await rowOf('d.com');
    const profile = store.parse(JSON.parse(String(row?.['profile'])));
    expect(profile.recent_signals.map(({ type }) => type)).toEqual([
      'technology_removed',
      ...firstObservation(observationOf('d.com'), 'sf_d.com').signals.map(() => expect.any(String)),
    ]);
    expect(new Set(profile.technologies.map((one) => `${one.install_state} ${one.first_observed_at}`))).toEqual(
      new Set([`inactive ${new Date(T0 + 1_000).toISOString()}`]),
    );
    expect(row).toMatchObject({
      first_observed_at: T0 + 1_000,
      last_completed_scan_at: T0 + DAY_MS,
      last_observation_id: later.id,
    });
  });

  test('completes its scan job and the analyses that wait for it, once', async () => {
    const id = idOf('job', 1);
    await scanner.transaction((transaction) =>
      queueScans(transaction, { domains: ['e.com'], cause: 'requested', at: T0, createId: () => id }),
    );
    await database.owner.execute(`INSERT INTO analyses VALUES ('ana_1', 'e.com', $1, 'queued', NULL, NULL, now())`, [id]);
    await commitFirst(observationOf('e.com', { scan_job_id: id }));
    const [job] = await scanner.query('SELECT status, finished_at FROM scan_jobs WHERE id = $1', [id]);
    expect(job).toEqual({ status: 'completed', finished_at: T0 + 1_000 });
    expect(await scanner.query(`SELECT status FROM analyses WHERE id = 'ana_1'`)).toEqual([{ status: 'completed' }]);
  });
});

test('commits of one domain that is not there yet wait for each other', async () => {
  const seen: (string | undefined)[] = [];
  const commit = () =>
    scanner.transaction(async (transaction) => {
      const known = await lockStore(transaction, 'f.com');
      seen.push(known?.storefront_id);
      if (known !== undefined) return;
      const observation = observationOf('f.com');
      await commitObservation(transaction, observation, firstObservation(observation, 'sf_f.com'), URLS);
    });
  await Promise.all([commit(), commit(), commit()]);
  expect(seen).toEqual([undefined, 'sf_f.com', 'sf_f.com']);
});

test('a profile is rendered anew for other URLs; one that is not there is not', async () => {
  await commitFirst(observationOf('g.com'));
  const api = database.as('vitrine_store_api');
  const render = (domain: string) =>
    api.transaction((transaction) => renderStoredProfile(transaction, domain, { ...URLS, console_url: 'https://other.example' }));
  expect([await render('g.com'), await render('unknown.com')]).toEqual([true, false]);
  expect((await rowOf('g.com'))?.['profile']).toContain('https://other.example/stores/g.com');
});

test('the demo store is committed once', async () => {
  const commit = () => scanner.transaction((transaction) => commitDemoStore(transaction, URLS, T0, randomBytes));
  expect([await commit(), await commit()]).toEqual(['example.com', 'example.com']);
  const row = await rowOf('example.com');
  expect(store.parse(JSON.parse(String(row?.['profile'])))).toMatchObject({
    domain: 'example.com',
    status: { state: 'active_storefront' },
  });
  expect(await scanner.query('SELECT FROM observations WHERE storefront_id = $1', [row?.['storefront_id']])).toHaveLength(1);
});

test('the vocabulary is imported again without a change, and then only what differs', async () => {
  const api = database.as('vitrine_store_api');
  expect(await importVocabulary(api, VOCABULARY)).toBe(0);
  const [first] = VOCABULARY;
  expect(await importVocabulary(api, first === undefined ? [] : [{ ...first, name: 'Renamed' }])).toBe(1);
  expect(await api.query(`SELECT count(*) AS n FROM technologies WHERE name = 'Renamed'`)).toEqual([{ n: 1 }]);
});
