import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { randomBytes } from 'node:crypto';
import { commitDemoStore } from '../demo/demo-store.ts';
import { importVocabulary } from '../import-vocabulary.ts';
import { renderProfile } from '../profile/render-profile.ts';
import { store } from '../resources/store.ts';
import { finishScanJob } from '../scans/finish-scan-job.ts';
import { queueScans } from '../scans/queue-scans.ts';
import { momentOf, type LoggedObservation } from '../signals/derivation-context.ts';
import { compareMoments, storeStateOf } from '../signals/derivation-state.ts';
import { deriveLog } from '../testing/derive-log.ts';
import { CONTEXT, notOpen, observed, PAGES, seen } from '../testing/observations.ts';
import { storeDatabase, type StoreDatabase } from '../testing/store-database.ts';
import { DAY_MS, idOf, T0, URLS } from '../testing/store-states.ts';
import { commitObservation, renderStoredProfile, type CommitContext, type CommittedObservation } from './commit-observation.ts';
import type { Observation } from '../observation/observation-facts.ts';
import type { Rules } from './rule-sets.ts';
import { readRecentSignals, readStoreState } from './store-rows.ts';

const KLAVIYO = seen('klaviyo');
/** A machine may pause for seconds while one of many commits has the lock. */
const PATIENT = { lockTimeoutMs: 60_000, statementTimeoutMs: 60_000, idleTransactionTimeoutMs: 60_000 };

let database: StoreDatabase;
let scanner: PostgresPool;
let stores = 0;
beforeAll(async () => {
  database = await storeDatabase();
  await importVocabulary(database.as('vitrine_store_api'), VOCABULARY);
  scanner = database.as('vitrine_enrich', PATIENT);
});
afterAll(async () => database[Symbol.asyncDispose]());

/** A separate store for a log, with unique ids. */
function storeOf(log: readonly LoggedObservation[]) {
  const n = (stores += 1);
  const domain = `shop-${n}.com`;
  const observations = log.map((observation): Observation => ({
    scan_job_id: null,
    started_at: observation.completed_at - 1_000,
    evidence: { of: observation.id },
    ...observation,
    id: `${observation.id}${n}`,
    facts: { ...observation.facts, domain },
  }));
  return { domain, storefront_id: `sf_${n}`, observations };
}
type TestStore = ReturnType<typeof storeOf>;

const contextOf = ({ storefront_id }: TestStore, rules?: Rules): CommitContext => ({
  urls: URLS,
  createStorefrontId: () => storefront_id,
  ...(rules === undefined ? {} : { rules }),
});
const commit = (testStore: TestStore, observation: Observation | undefined, rules?: Rules, pool = scanner) => {
  if (observation === undefined) throw new Error('no such observation');
  return pool.transaction((transaction) => commitObservation(transaction, observation, contextOf(testStore, rules)));
};
async function commitAll(testStore: TestStore, rules?: Rules) {
  const committed = [];
  for (const observation of testStore.observations) committed.push(await commit(testStore, observation, rules));
  return committed;
}
const rowOf = async ({ domain }: TestStore) =>
  (await database.owner.query('SELECT * FROM stores WHERE domain = $1', [domain]))[0];
const signalsOf = ({ storefront_id }: TestStore) =>
  database.owner.query<{ id: string; type: string; technology: string | null; confirmed_at: number }>(
    `SELECT id, observation_id, type, technology, "from", "to", effective_at, confirmed_at, confidence FROM signals
     WHERE storefront_id = $1 AND withdrawn_at IS NULL ORDER BY id`,
    [storefront_id],
  );
const profileOf = async (testStore: TestStore) => store.parse(JSON.parse(String((await rowOf(testStore))?.['profile'])));
/** The expected result of the ordered log. */
function expectedOf({ domain, storefront_id, observations }: TestStore, context = CONTEXT) {
  const derived = deriveLog(observations, { ...context, storefront_id });
  if (derived === undefined) throw new Error('an empty log');
  const state = storeStateOf(derived.state, { domain, storefront_id, brand_group_id: null });
  return { state, derived, signals: derived.signals.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
}
async function expectDerived(testStore: TestStore, context = CONTEXT) {
  const { state, derived, signals } = expectedOf(testStore, context);
  expect(await readStoreState(scanner, testStore.storefront_id)).toEqual(state);
  expect(await signalsOf(testStore)).toEqual(signals);
  const [row] = await database.owner.query('SELECT state FROM derivations WHERE storefront_id = $1', [testStore.storefront_id]);
  expect(row).toEqual({ state: derived.state });
  const { text, hash } = renderProfile(state, signals, URLS);
  expect(await rowOf(testStore)).toMatchObject({
    profile: state.is_ecommerce ? text : null,
    profile_hash: state.is_ecommerce ? hash : null,
    last_observation_id: derived.state.last.observation_id,
    first_observed_at: Math.min(...testStore.observations.map(({ completed_at }) => completed_at)),
  });
}

/** An addition, a removal, a migration, inactivity and a return. */
const LIFE = [
  observed(1),
  observed(2, [KLAVIYO]),
  ...[3, 4, 5].map((day) => observed(day)),
  ...[6, 7].map((day) => observed(day, [], { technologies: [seen('magento')] })),
  ...[8, 9].map((day) => notOpen(day)),
  observed(10, [], { technologies: [seen('magento'), seen('hotjar')] }),
];

describe('committed observations', () => {
  test('are the state of their store, its signals and the profile that shows both', async () => {
    const testStore = storeOf(LIFE);
    const committed = await commitAll(testStore);
    await expectDerived(testStore);
    expect(committed.map(({ arrival }) => arrival)).toEqual(['first', ...LIFE.slice(1).map(() => 'next')]);
    expect((await profileOf(testStore)).recent_signals.map(({ type }) => type)).toEqual(
      ['technology_added', 'store_became_active', 'store_became_inactive', 'platform_migrated', 'technology_removed'].map(
        (type) => expect.stringMatching(type === 'technology_added' || type === 'store_became_active' ? /_added|_active/ : type),
      ),
    );
    const { observations, storefront_id } = testStore;
    const logged = await scanner.query(
      'SELECT id, facts, evidence, scope FROM observations WHERE storefront_id = $1 ORDER BY id',
      [storefront_id],
    );
    expect(logged).toEqual(
      observations
        .map(({ id, facts, evidence }) => ({ id, facts, evidence, scope: facts.scope }))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  });

  test('change everything or nothing, whichever statement fails', async () => {
    let left = Number.POSITIVE_INFINITY;
    const failing = database.as('vitrine_enrich', {
      ...PATIENT,
      maxConnections: 1,
      beforeStatement: (text) => {
        if (text !== 'ROLLBACK' && (left -= 1) < 0) throw new Error('a statement failed');
      },
    });
    const testStore = storeOf(LIFE.slice(0, 5));
    const rules: Rules = { registry_checksum: 'v1', ids: ['klaviyo:1'], detect: () => undefined };
    const jobs = testStore.observations.map((_, i) => idOf('job', stores * 100 + i));
    const observations = testStore.observations.map((observation, i) => ({ ...observation, scan_job_id: jobs[i] ?? null }));
    let failures = 0;
    for (const [i, observation] of observations.entries()) {
      const job = jobs[i] ?? '';
      await scanner.transaction((transaction) =>
        queueScans(transaction, { domains: [testStore.domain], cause: 'routine', createId: () => job }),
      );
      const everything = () =>
        Promise.all(
          ['stores', 'derivations', 'store_technologies', 'observations', 'signals', 'technology_losses']
            .map((table) => database.owner.query(`SELECT * FROM ${table} WHERE storefront_id = $1`, [testStore.storefront_id]))
            .concat(database.owner.query('SELECT * FROM scan_jobs WHERE id = $1', [job])),
        );
      const before = await everything();
      for (let n = 0; ; n += 1) {
        left = n;
        const isDone = await commit(testStore, observation, rules, failing).then(
          () => true,
          () => false,
        );
        if (isDone) break;
        failures += 1;
        expect(await everything()).toEqual(before);
      }
    }
    expect(failures).toBeGreaterThan(LIFE.slice(0, 5).length * 5);
    await expectDerived({ ...testStore, observations });
  });

  test('without commerce are kept and have no profile', async () => {
    const testStore = storeOf([
      observed(1, [], { shows_commerce: false, shows_products: false, technologies: [], catalog: null }),
    ]);
    const [committed] = await commitAll(testStore);
    expect([committed?.profile, committed?.signals]).toEqual([undefined, []]);
    expect(await rowOf(testStore)).toMatchObject({ is_ecommerce: false, profile: null, last_completed_scan_at: T0 + DAY_MS });
  });

  test('complete their scan job and the analyses that wait for it', async () => {
    const testStore = storeOf([observed(1)]);
    const id = idOf('job', 1);
    await scanner.transaction((transaction) =>
      queueScans(transaction, { domains: [testStore.domain], cause: 'requested', createId: () => id }),
    );
    const analysis = `INSERT INTO analyses (id, domain, scan_job_id, status, created_at) VALUES ('ana_1', $1, $2, 'queued', now())`;
    await database.owner.execute(analysis, [testStore.domain, id]);
    const [observation] = testStore.observations;
    await commit(testStore, observation && { ...observation, scan_job_id: id });
    const [job] = await scanner.query('SELECT status, finished_at FROM scan_jobs WHERE id = $1', [id]);
    expect(job).toEqual({ status: 'completed', finished_at: expect.any(Number) });
    expect(await scanner.query(`SELECT status FROM analyses WHERE id = 'ana_1'`)).toEqual([{ status: 'completed' }]);
  });

  test('that are repeated change nothing', async () => {
    const testStore = storeOf(LIFE);
    await commitAll(testStore);
    const before = await rowOf(testStore);
    expect(new Set((await commitAll(testStore)).map(({ arrival }) => arrival))).toEqual(new Set(['repeated']));
    expect(await rowOf(testStore)).toEqual(before);
    await expectDerived(testStore);
  });
});

test('a scan that is blocked or fails changes nothing but its job', async () => {
  const testStore = storeOf([observed(1, [KLAVIYO])]);
  await commitAll(testStore);
  for (const [n, status] of (['blocked', 'failed'] as const).entries()) {
    const before = await rowOf(testStore);
    const id = idOf('job', 50 + n);
    await scanner.transaction((transaction) =>
      queueScans(transaction, { domains: [testStore.domain], cause: 'routine', createId: () => id }),
    );
    await scanner.transaction((transaction) => finishScanJob(transaction, { id, status, error: 'challenged' }));
    expect(await rowOf(testStore)).toEqual(before);
  }
  await expectDerived(testStore);
});

describe('for any order of arrival', () => {
  const day = (n: number) => LIFE[n - 1];
  test.each<[string, (LoggedObservation | undefined)[], number]>([
    ['backwards', LIFE.toReversed(), 9],
    ['the first one last', [...LIFE.slice(1), day(1)], 1],
    ['two in exchanged places', [...LIFE.slice(0, 3), day(5), day(4), ...LIFE.slice(5)], 1],
    ['odd days, then even ones', [...LIFE.filter((_, i) => i % 2 === 0), ...LIFE.filter((_, i) => i % 2 === 1)], 4],
  ])('%s: states and signals are those of the ordered log', async (_, log, late) => {
    const testStore = storeOf(log.flatMap((observation) => observation ?? []));
    const committed = await commitAll(testStore);
    expect(committed.filter(({ arrival }) => arrival === 'late')).toHaveLength(late);
    await expectDerived(testStore);
  });

  test('a signal disproved by a late observation is kept but hidden, and confirmed again when it is true', async () => {
    const log = [
      observed(1, [KLAVIYO]),
      observed(3),
      observed(4),
      observed(5),
      observed(4.5, [KLAVIYO]),
      observed(6),
      observed(7),
    ];
    const testStore = storeOf(log.map((entry, i) => ({ ...entry, id: idOf('obs', i) })));
    const committed = await commitAll(testStore);
    const withdrawn = committed.map((one) => one.withdrawn);
    expect(withdrawn).toEqual([[], [], [], [], [{ type: 'technology_removed' }], [], []]);
    const [{ n } = { n: 0 }] = await database.owner.query<{ n: number }>(
      `SELECT count(*) AS n FROM signals WHERE storefront_id = $1 AND type = 'technology_removed' AND withdrawn_at IS NOT NULL`,
      [testStore.storefront_id],
    );
    expect(n).toBe(1);
    await expectDerived(testStore);
    const [removal] = (await profileOf(testStore)).recent_signals;
    expect(removal).toMatchObject({ type: 'technology_removed', confirmed_at: new Date(T0 + 7 * DAY_MS).toISOString() });
  });

  test('concurrent commits to one store give the states and signals of the ordered log', async () => {
    const other = database.as('vitrine_enrich', PATIENT);
    const testStore = storeOf(LIFE);
    const twice = [...testStore.observations, ...testStore.observations.toReversed()];
    await Promise.all(twice.map((observation, i) => commit(testStore, observation, undefined, i % 2 === 0 ? scanner : other)));
    await expectDerived(testStore);
  });
});

describe('when rules change', () => {
  const V2: Rules = {
    registry_checksum: 'v2',
    ids: ['klaviyo:1', 'shopify:1', 'hotjar:1'],
    detect: (evidence) => {
      const hasHotjar = (evidence as { hotjar?: boolean }).hotjar === true;
      return {
        pages: PAGES,
        technologies: [seen('shopify', ['home:meta']), ...(hasHotjar ? [seen('hotjar')] : [])],
        withheld: [],
      };
    },
  };
  const withEvidence = (testStore: TestStore, evidence: unknown): TestStore => ({
    ...testStore,
    observations: testStore.observations.map((observation, i) => (i === 0 ? { ...observation, evidence } : observation)),
  });

  test.each([
    ['was there under the new rules is no addition', { hotjar: true }, []],
    ['was not there under the new rules is one', { hotjar: false }, ['technology_added']],
    ['cannot be judged without evidence is none', undefined, []],
  ])('what %s', async (_, evidence, expected) => {
    const testStore = withEvidence(storeOf([observed(1), observed(2, [seen('hotjar')], {}, 'v2')]), evidence);
    await commitAll(testStore, V2);
    const signals = await signalsOf(testStore);
    expect(signals.filter(({ technology }) => technology !== null).map(({ type }) => type)).toEqual(expected);
    const replays = await database.owner.query('SELECT registry_checksum FROM observation_replays WHERE observation_id = $1', [
      testStore.observations[0]?.id,
    ]);
    expect(replays).toEqual(evidence === undefined ? [] : [{ registry_checksum: 'v2' }]);
    expect(await database.owner.query(`SELECT rule_ids FROM rule_sets WHERE registry_checksum = 'v2'`)).toEqual([
      { rule_ids: V2.ids },
    ]);
  });

  test('the order of arrival has no effect, and replayed results are kept after the evidence is removed', async () => {
    const log = [observed(1), observed(2, [seen('hotjar')], {}, 'v2'), observed(3, [], {}, 'v2')];
    const ordered = withEvidence(storeOf(log), { hotjar: true });
    await commitAll(ordered, V2);
    const late = withEvidence(storeOf(log), { hotjar: true });
    const [first, ...others] = late.observations;
    for (const observation of [...others, first]) await commit(late, observation, V2);
    const typesOf = async (testStore: TestStore) =>
      (await signalsOf(testStore)).map(({ type, confirmed_at }) => `${type} ${confirmed_at}`).toSorted();
    expect(await typesOf(late)).toEqual(await typesOf(ordered));
    await database.owner.execute('UPDATE observations SET evidence = NULL WHERE storefront_id = $1', [ordered.storefront_id]);
    const between: TestStore = { ...ordered, observations: storeOf([observed(2.5, [seen('hotjar')], {}, 'v2')]).observations };
    const [observation] = between.observations;
    await commit(ordered, observation && { ...observation, facts: { ...observation.facts, domain: ordered.domain } }, V2);
    expect((await typesOf(ordered)).filter((type) => type.startsWith('technology'))).toEqual([]);
  });
});

describe('removals of a technology that many stores lose in a day', () => {
  /** Stores that lost a technology on day 4, and how many of them were not held. */
  async function lose(slug: string, losers: number, keepers: number) {
    const technology = seen(slug);
    const lost = Array.from({ length: losers }, () =>
      storeOf([observed(1, [technology]), observed(2), observed(3), observed(4)]),
    );
    const kept = Array.from({ length: keepers }, () => storeOf([observed(1, [technology])]));
    for (const testStore of [...kept, ...lost])
      for (const observation of testStore.observations.slice(0, 3)) await commit(testStore, observation);
    let removed = 0;
    const held: CommittedObservation['held'][number][] = [];
    const holds: string[] = [];
    for (const testStore of lost) {
      const committed = await commit(testStore, testStore.observations[3]);
      removed += committed.signals.filter(({ type }) => type === 'technology_removed').length;
      held.push(...committed.held);
      holds.push(...committed.holds);
    }
    return { lost, removed, held, holds };
  }

  test('are held from the twentieth on, and applied at the next completed observation after the hold', async () => {
    const { lost, removed, ...reported } = await lose('loox', 23, 0);
    expect(removed).toBe(19);
    const held = lost.slice(19);
    expect(reported).toEqual({ held: held.map(() => ({ type: 'technology_removed', technology: 'loox' })), holds: ['loox'] });
    for (const testStore of held)
      expect((await profileOf(testStore)).technologies).toMatchObject([{ slug: 'loox', install_state: 'active' }]);
    const [first, second, third, fourth] = held;
    if (first === undefined || second === undefined || third === undefined || fourth === undefined)
      throw new Error('four are held');
    const afterwards = async (testStore: TestStore, ...log: LoggedObservation[]) => {
      const next = storeOf(log).observations.map((one) => ({ ...one, facts: { ...one.facts, domain: testStore.domain } }));
      for (const observation of next) expect(await commit(testStore, observation)).toMatchObject({ held: [], holds: [] });
      return (await signalsOf(testStore))
        .filter(({ type }) => type === 'technology_removed')
        .map(({ confirmed_at }) => confirmed_at);
    };
    expect(await afterwards(first, observed(4.5))).toEqual([]);
    expect(await afterwards(second, observed(5.1))).toEqual([T0 + 5.1 * DAY_MS]);
    expect(await afterwards(third, observed(5.2, [seen('loox')]), observed(6))).toEqual([]);
    const [hold] = await database.owner.query(`SELECT losses, base, held_until FROM removal_holds WHERE slug = 'loox'`);
    expect(hold).toEqual({ losses: 20, base: 23, held_until: T0 + 5 * DAY_MS });
    // Holds are stored, so a new derivation has the same ones.
    const late = await afterwards(fourth, observed(6), observed(5.5));
    expect(late).toEqual([T0 + 5.5 * DAY_MS]);
  });

  test('are not held below twenty', async () => {
    expect((await lose('okendo', 19, 0)).removed).toBe(19);
    expect(await database.owner.query(`SELECT FROM removal_holds WHERE slug = 'okendo'`)).toEqual([]);
  });

  test('are held above 5 % of the stores that have it, but not at 5 %', async () => {
    const fill = async (slug: string, n: number) => {
      await database.owner.execute(
        `WITH filled AS (INSERT INTO stores (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce)
           SELECT 'sf_' || $1 || i, $1 || i || '.com', '', 'active_storefront', now(), true FROM generate_series(1, $2::integer) AS i RETURNING storefront_id)
         INSERT INTO store_technologies SELECT storefront_id, $1, 'active', 'high', now(), now() FROM filled`,
        [slug, n],
      );
    };
    await fill('gorgias', 381);
    expect((await lose('gorgias', 22, 0)).removed).toBe(20);
    await fill('tidio', 380);
    expect((await lose('tidio', 20, 0)).removed).toBe(20);
  });
});

test('a profile is rendered again for other URLs; a missing one is not', async () => {
  const testStore = storeOf([observed(1)]);
  await commitAll(testStore);
  const api = database.as('vitrine_store_api');
  const render = (domain: string) =>
    api.transaction((transaction) => renderStoredProfile(transaction, domain, { ...URLS, console_url: 'https://other.example' }));
  expect([await render(testStore.domain), await render('unknown.com')]).toEqual([true, false]);
  expect((await rowOf(testStore))?.['profile']).toContain(`https://other.example/stores/${testStore.domain}`);
  expect(await readRecentSignals(scanner, testStore.storefront_id)).toHaveLength(2);
});

test('the demo store is committed once', async () => {
  const commitDemo = () => scanner.transaction((transaction) => commitDemoStore(transaction, URLS, T0, randomBytes));
  expect([await commitDemo(), await commitDemo()]).toEqual(['example.com', 'example.com']);
  const [row] = await database.owner.query(`SELECT * FROM stores WHERE domain = 'example.com'`);
  expect(store.parse(JSON.parse(String(row?.['profile'])))).toMatchObject({
    domain: 'example.com',
    platform: { slug: 'shopify' },
    status: { state: 'active_storefront' },
  });
  expect(await scanner.query('SELECT FROM observations WHERE storefront_id = $1', [row?.['storefront_id']])).toHaveLength(1);
});

test('importing the vocabulary again changes nothing, or only differences', async () => {
  const api = database.as('vitrine_store_api');
  expect(await importVocabulary(api, VOCABULARY)).toBe(0);
  const [first] = VOCABULARY;
  expect(await importVocabulary(api, first === undefined ? [] : [{ ...first, name: 'Renamed' }])).toBe(1);
  expect(await api.query(`SELECT count(*) AS n FROM technologies WHERE name = 'Renamed'`)).toEqual([{ n: 1 }]);
});

test('the order of the log is that of completion, then of ids', () => {
  const [a, b] = [observed(1), { ...observed(1), id: idOf('obs', 99) }];
  expect([
    compareMoments(momentOf(a), momentOf(b)),
    compareMoments(momentOf(b), momentOf(a)),
    compareMoments(momentOf(a), momentOf(a)),
  ]).toEqual([-1, 1, 0]);
});
