import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO_FACTS } from '@vitrine/stores/demo/demo-facts';
import { renderProfile } from '@vitrine/stores/profile/render-profile';
import { storeState, T0, URLS } from '@vitrine/stores/testing/store-states';
import { join } from 'node:path';
import { ROOT } from '../running-process.ts';
import { baseValues } from './chart-values.ts';
import { describeWithCluster } from './describe-with-cluster.ts';
import { Helm, installedHelms } from './helm.ts';
import type { Kubectl } from './kubectl.ts';
import { prepareCluster, RELEASE, type PreparedCluster } from './release.ts';
import { STOREFRONT_PORT, startStorefrontBeside } from './storefront-sidecar.ts';
import { createNamespace } from './test-namespace.ts';
import { startOutsideStores, type OutsideStores } from './upgrade/outside-stores.ts';

const START_TIMEOUT_MS = 1_200_000;
const TEST_TIMEOUT_MS = 300_000;
const READY_MS = 60_000;
/** From `kubectl apply` of a plan until the store API enforces it. */
const PLAN_MS = 5_000;
/** Of a scan, with politeness. */
const SCAN_MS = 180_000;
const NAMESPACE = `vitrine-stores-${Date.now()}`;
const STORES_SECRET = 'stores';
const API = `deployment/${RELEASE}-store-api`;
const DOMAIN = 'kaese-und-brot.de';
/** A fixture storefront beside the scanner; names that no configuration has are read from public addresses only. */
const SCANNER = `deployment/${RELEASE}-enrich-scan-queue`;
const SCANNED = 'brot-und-butter.de';
const SCANNER_CONFIG = {
  environment: 'development',
  // Nothing listens for https.
  fetch: { loopback_hosts: [`${SCANNED}=127.0.0.1:${STOREFRONT_PORT}:1`] },
};
const LIMITS = {
  rpm: 6_000,
  concurrency: 50,
  freshnessDays: 30,
  historyDays: 90,
  enrichBatchMax: 50,
  liveRefreshesPerPeriod: 100,
};
const plan = (lookups: number) => ({
  apiVersion: 'vitrine.dev/v1alpha1',
  kind: 'PlanLimits',
  metadata: { name: 'pro' },
  spec: { ...LIMITS, included: { lookup_cached: lookups } },
});

await describeWithCluster('the store API of a release', () => {
  const opened = new AsyncDisposableStack();
  // The other journeys run with the newest one.
  const program = installedHelms()[0] ?? '';
  let prepared: PreparedCluster;
  let kubectl: Kubectl;
  let stores: OutsideStores;

  beforeAll(async () => {
    prepared = opened.use(await prepareCluster(`${NAMESPACE}-outside`));
    const { cluster, outside, images } = prepared;
    stores = await startOutsideStores(program, outside, STORES_SECRET);
    ({ kubectl } = opened.use(await createNamespace(cluster, NAMESPACE)));
    await kubectl.apply(stores.secret);
    opened.defer(async () => void (await new Helm(program, kubectl).run(['uninstall', RELEASE, '--ignore-not-found', '--wait'])));
    const database = (user: string) => ({ database: { existingSecret: STORES_SECRET, key: `dsn-${user}` } });
    const own = baseValues(images, outside.namespace) as Record<string, object>;
    const values = {
      ...own,
      ...database('migrations'),
      kafka: { bootstrapServers: stores.brokers },
      gateway: { ...own['gateway'], replicas: 1, ...database('gateway') },
      traceWriter: { ...own['traceWriter'], replicas: 1, ...database('trace-writer') },
      storeApi: { ...own['storeApi'], ...database('store-api') },
      enrichScanQueue: { ...own['enrichScanQueue'], config: SCANNER_CONFIG, ...database('enrich-scan-queue') },
      operator: { ...own['operator'], ...database('operator') },
    };
    await new Helm(program, kubectl).install({ name: RELEASE, chart: join(ROOT, 'charts/vitrine'), values });
  }, START_TIMEOUT_MS);
  afterAll(() => opened.disposeAsync(), START_TIMEOUT_MS);

  const command = async <T>(...args: string[]): Promise<T> =>
    JSON.parse(await kubectl.exec(API, ['node', 'services/store-api/src/main.ts', ...args, '--format', 'json'])) as T;

  test(
    'a workspace and a key made on the command line look up a store through the Service; a lowered plan is enforced within 5 s',
    async () => {
      await kubectl.apply(plan(1_000));
      await kubectl.wait('condition=Ready', ['planlimits/pro'], READY_MS);
      const { id } = await command<{ id: string }>('workspace', 'create', '--admin', 'ada@example.com', '--plan', 'pro');
      const { secret } = await command<{ secret: string }>('key', 'create', '--workspace', id, '--label', 'ci');
      await addStore(stores);
      await using forward = await kubectl.forward(`service/${RELEASE}-store-api`, 8081);
      const get = async (path: string) => {
        const response = await fetch(forward.url + path, { headers: { authorization: `Bearer ${secret}` } });
        return [response.status, (await response.json()) as Readonly<Record<string, unknown>>] as const;
      };
      expect(await get('/v1/account')).toMatchObject([200, { workspace: { id }, plan: { slug: 'pro' } }]);
      expect((await get(`/v1/stores/${DOMAIN}`))[0]).toBe(200);
      await kubectl.apply(plan(1));
      const [, body] = await kubectl.until('402', PLAN_MS, async () => {
        const answer = await get(`/v1/stores/${DOMAIN}`);
        return answer[0] === 402 && answer;
      });
      expect(body).toMatchObject({ error: { code: 'payment_required', reset_at: expect.any(String) } });
      await kubectl.apply(plan(1_000));
      await kubectl.until('200', PLAN_MS, async () => (await get(`/v1/stores/${DOMAIN}`))[0] === 200);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a refresh queues a scan of a new domain, and the scanner makes it a store',
    async () => {
      await startStorefrontBeside(kubectl, SCANNER, SCANNED);
      await kubectl.apply(plan(1_000));
      const { id } = await command<{ id: string }>('workspace', 'create', '--admin', 'bob@example.com', '--plan', 'pro');
      const { secret } = await command<{ secret: string }>(
        'key',
        'create',
        '--workspace',
        id,
        '--label',
        'ci',
        '--preset',
        'full',
      );
      await using forward = await kubectl.forward(`service/${RELEASE}-store-api`, 8081);
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ domains: [SCANNED], refresh: true });
      const enriched = await fetch(`${forward.url}/v1/stores/enrich`, { method: 'POST', headers, body });
      expect(await enriched.json()).toMatchObject({ results: [{ reason: 'not_in_corpus', scan_requested: true }] });
      const store = await kubectl.explain(
        kubectl.until('the store', SCAN_MS, async () => {
          const response = await fetch(`${forward.url}/v1/stores/${SCANNED}`, { headers });
          return response.status === 200 && (await response.json());
        }),
      );
      expect(JSON.stringify(store)).toContain('"shopify"');
    },
    TEST_TIMEOUT_MS,
  );
});

/** As its observation would leave it. */
async function addStore(stores: OutsideStores): Promise<void> {
  const times = { first_observed_at: T0, last_confirmed_at: T0 };
  const technologies = DEMO_FACTS.technologies.map(({ slug, install_state, confidence }) => ({
    slug,
    install_state,
    confidence,
    ...times,
  }));
  const { text, hash } = renderProfile(storeState({ domain: DOMAIN, technologies }), [], URLS);
  const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;
  await stores.query(`INSERT INTO stores
    (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce, last_completed_scan_at, profile, profile_hash)
    VALUES ('sf_1', '${DOMAIN}', '${DOMAIN}', 'reachable', now(), true, now(), ${literal(text)}, ${literal(hash)})`);
}
