import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO_FACTS } from '@vitrine/stores/demo/demo-store';
import { renderProfile } from '@vitrine/stores/profile/render-profile';
import { storeState, T0, URLS } from '@vitrine/stores/testing/store-states';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { join } from 'node:path';
import { ROOT, startProcess } from '../running-process.ts';
import { baseValues, STORES_SECRET, withOutsideStores } from './chart-values.ts';
import { provideImages, type ServiceImages } from './cluster-images.ts';
import { describeWithCluster } from './describe-with-cluster.ts';
import { documentedCommands } from './documented-commands.ts';
import { Helm, helmPrograms } from './helm.ts';
import type { Kubectl } from './kubectl.ts';
import { prepareCluster, RELEASE, type PreparedCluster } from './release.ts';
import { STOREFRONT_PORT, startStorefrontBeside } from './storefront-sidecar.ts';
import { createNamespace } from './test-namespace.ts';
import type { Load } from './upgrade/load.ts';
import { openOlderCheckout } from './upgrade/older-checkout.ts';
import { startOutsideStores, type OutsideStores } from './upgrade/outside-stores.ts';
import { startStoreTraffic, type StoreTrafficReport } from './upgrade/store-traffic.ts';

const START_TIMEOUT_MS = 1_200_000;
const TEST_TIMEOUT_MS = 600_000;
const STEP_TIMEOUT_MS = 240_000;
const READY_MS = 60_000;
/** From `kubectl apply` of a plan until the store API enforces it. */
const PLAN_MS = 5_000;
/** Those of the documented commands. */
const NAMESPACE = 'vitrine';
const SECTION = 'The store API in a cluster: from a workspace to a profile';
const API = `deployment/${RELEASE}-store-api`;
const CLIENTS = 16;
const WORKSPACES = 2;
/** Requests before the first change, and between two of them. */
const ENOUGH = 300;
const STORES = Array.from({ length: 12 }, (_, number) => `laden-${number}.de`);
/** A fixture storefront beside the scanner, and names at which nothing listens; others would be read from public addresses. */
const SCANNER = `deployment/${RELEASE}-enrich-scan-queue`;
const SCANNED = 'brot-und-butter.de';
const UNKNOWN = Array.from({ length: 40 }, (_, number) => `neu-${number}.de`);
const LOOPBACK = [`${SCANNED}=127.0.0.1:${STOREFRONT_PORT}:1`, ...UNKNOWN.map((name) => `${name}=127.0.0.1:1:1`)];
const SCANNER_CONFIG = { environment: 'development', fetch: { loopback_hosts: LOOPBACK } };
const LIMITS = { concurrency: 50, freshnessDays: 30, historyDays: 90, enrichBatchMax: 50, liveRefreshesPerPeriod: 100 };
const plan = (name: string, lookups: number) => ({
  apiVersion: 'vitrine.dev/v1alpha1',
  kind: 'PlanLimits',
  metadata: { name },
  spec: { ...LIMITS, rpm: 60_000, included: { lookup_cached: lookups } },
});

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
}
type Units = Readonly<Record<'lookup_cached' | 'lookup_live', number>>;

await describeWithCluster('the store API of a release', () => {
  const opened = new AsyncDisposableStack();
  const program = helmPrograms().at(-1) ?? '';
  let prepared: PreparedCluster;
  let kubectl: Kubectl;
  let stores: OutsideStores;
  let traffic: Load<StoreTrafficReport>;
  let key = '';
  const workspaces: string[] = [];

  const values = (images: ServiceImages, podAnnotations: object) => {
    const { gateway, traceWriter, storeApi, enrichScanQueue, ...rest } = baseValues(images, prepared.outside.namespace);
    const own = {
      ...rest,
      gateway: { ...gateway, replicas: 1 },
      traceWriter: { ...traceWriter, replicas: 1 },
      storeApi: { ...storeApi, podAnnotations },
      enrichScanQueue: { ...enrichScanQueue, config: SCANNER_CONFIG },
    };
    return withOutsideStores(own, stores.brokers);
  };
  const command = async <T>(...args: string[]): Promise<T> =>
    JSON.parse(await kubectl.exec(API, ['node', 'services/store-api/src/main.ts', ...args, '--format', 'json'])) as T;

  beforeAll(async () => {
    prepared = opened.use(await prepareCluster(`${NAMESPACE}-stores-${Date.now()}-outside`, NAMESPACE));
    const { cluster, outside } = prepared;
    const older = opened.use(await openOlderCheckout());
    const olderImages = await provideImages(cluster, older.path);
    stores = await startOutsideStores(program, outside, STORES_SECRET);
    ({ kubectl } = opened.use(await createNamespace(cluster, NAMESPACE)));
    await kubectl.apply(stores.secret);
    opened.defer(async () => void (await new Helm(program, kubectl).run(['uninstall', RELEASE, '--ignore-not-found', '--wait'])));
    const chart = join(older.path, 'charts/vitrine');
    await new Helm(program, kubectl).install({ name: RELEASE, chart, values: values(olderImages, {}) });
    await kubectl.apply(plan('growth', 1_000_000));
    await kubectl.wait('condition=Ready', ['planlimits/growth'], READY_MS);
    await addStores(stores);
    const keys: string[] = [];
    for (let number = 0; number < WORKSPACES; number += 1) {
      const admin = ['--admin', 'ada@example.com', '--plan', 'growth'];
      const { id } = await command<{ id: string }>('workspace', 'create', ...admin);
      const labels = ['--label', 'load', '--preset', 'full'];
      keys.push((await command<{ secret: string }>('key', 'create', '--workspace', id, ...labels)).secret);
      workspaces.push(id);
    }
    process.stderr.write(`upgrade of the store API from ${older.commit}\n`);
    const target = `http://${RELEASE}-store-api.${NAMESPACE}.svc:8081`;
    traffic = await startStoreTraffic(outside, { target, keys, clients: CLIENTS, stores: STORES, unknown: UNKNOWN });
    await traffic.untilSent(ENOUGH, STEP_TIMEOUT_MS);
  }, START_TIMEOUT_MS);
  afterAll(() => opened.disposeAsync(), START_TIMEOUT_MS);

  test(
    `no request of ${CLIENTS} clients with kept connections fails while the release is upgraded from the version before and its pods are rescheduled`,
    async () => {
      const next = values(prepared.images, { 'vitrine.dev/upgraded': 'yes' });
      await new Helm(program, kubectl).upgrade({ name: RELEASE, chart: join(ROOT, 'charts/vitrine'), values: next });
      await traffic.untilSent(ENOUGH, STEP_TIMEOUT_MS);
      // A terminating one must not be deleted again.
      const pods = (await kubectl.list<Pod>('pods', '--selector=app.kubernetes.io/component=store-api')).filter(
        ({ metadata }) => metadata.deletionTimestamp === undefined,
      );
      expect(pods).toHaveLength(2);
      for (const { metadata } of pods) {
        await kubectl.run(['delete', 'pod', metadata.name, '--timeout=120s'], { timeoutMs: STEP_TIMEOUT_MS });
        await kubectl.rollout(API, STEP_TIMEOUT_MS);
      }
      await traffic.untilSent(ENOUGH, STEP_TIMEOUT_MS);
      const { sent, completed, failed, told, ...figures } = await traffic.stop();
      process.stderr.write(`${JSON.stringify({ sent, completed, failed, told, ...figures })}\n`);
      expect({ byReason: failed.byReason, first: failed.first }).toEqual({ byReason: {}, first: [] });
      expect(completed).toBe(sent);
      expect([figures.enriched, figures.replayed].every((count) => count > 0)).toBe(true);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'ledger and counters have what those clients were told, unit by unit',
    async () => {
      const { told } = await traffic.report();
      const owned = workspaces.map((id) => `'${id}'`).join(',');
      const rows = await stores.query(`SELECT json_object_agg(unit, n)
        FROM (SELECT unit, count(*) AS n FROM ledger WHERE workspace_id IN (${owned}) GROUP BY unit) AS units`);
      expect(JSON.parse(rows.join('')) as Units).toEqual(told);
      expect(told.lookup_live).toBeGreaterThan(0);
      expect(await command('reconcile')).toMatchObject({ differences: [] });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'the documented commands make a workspace and a key in Jobs, and a profile of a domain that nobody knew',
    async () => {
      await startStorefrontBeside(kubectl, SCANNER, SCANNED);
      const commands = await documentedCommands('docs/operations.md', SECTION);
      await using folder = await temporaryFolder('vitrine-store-api');
      const env = { KUBECONFIG: kubectl.kubeconfig, DOMAIN: SCANNED };
      const printed = `${commands}\necho; echo "$STORE_API_KEY"`;
      await using shell = startProcess({ command: ['bash', '-euo', 'pipefail', '-c', printed], cwd: folder.path, env });
      const { code } = await kubectl.explain(shell.end(TEST_TIMEOUT_MS));
      expect({ code, stderr: code === 0 ? '' : shell.stderr }).toEqual({ code: 0, stderr: '' });
      expect(shell.stdout).toMatch(new RegExp(`"domain":"${SCANNED}".*"shopify"`));
      key = /^svc_live_\S{43}$/m.exec(shell.stdout)?.[0] ?? '';
      expect(await kubectl.list('jobs', '--selector=!app.kubernetes.io/component')).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    `a lookup through the Service gets 402 within ${PLAN_MS / 1_000} s of a lowered plan, and 200 again of a raised one`,
    async () => {
      await using forward = await kubectl.forward(`service/${RELEASE}-store-api`, 8081);
      const get = async (path: string) => {
        const response = await fetch(forward.url + path, { headers: { authorization: `Bearer ${key}` } });
        return [response.status, (await response.json()) as Readonly<Record<string, unknown>>] as const;
      };
      expect(await get('/v1/account')).toMatchObject([200, { plan: { slug: 'pro' } }]);
      await kubectl.apply(plan('pro', 1));
      const [, body] = await kubectl.until('402', PLAN_MS, async () => {
        const answer = await get(`/v1/stores/${SCANNED}`);
        return answer[0] === 402 && answer;
      });
      expect(body).toMatchObject({ error: { code: 'payment_required', reset_at: expect.any(String) } });
      await kubectl.apply(plan('pro', 1_000));
      await kubectl.until('200', PLAN_MS, async () => (await get(`/v1/stores/${SCANNED}`))[0] === 200);
    },
    TEST_TIMEOUT_MS,
  );
});

/** In the state after their observations. */
async function addStores(stores: OutsideStores): Promise<void> {
  const times = { first_observed_at: T0, last_confirmed_at: T0 };
  const technologies = DEMO_FACTS.technologies.map(({ slug, install_state, confidence }) => ({
    slug,
    install_state,
    confidence,
    ...times,
  }));
  const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;
  const rows = STORES.map((domain) => {
    const { text, hash } = renderProfile(storeState({ domain, technologies }), [], URLS);
    return `('sf_${domain}', '${domain}', '${domain}', 'reachable', now(), true, now(), ${literal(text)}, ${literal(hash)})`;
  });
  await stores.query(`INSERT INTO stores
    (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce, last_completed_scan_at, profile, profile_hash)
    VALUES ${rows.join(',')}`);
}
