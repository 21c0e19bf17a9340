import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { ROOT } from '../running-process.ts';
import { baseValues, STORES_SECRET, withOutsideStores } from './chart-values.ts';
import { provideImages, type ServiceImages } from './cluster-images.ts';
import { describeWithCluster } from './describe-with-cluster.ts';
import { createGatewayKey, rotateGatewayKey } from './gateway-key-api.ts';
import { Helm, helmPrograms } from './helm.ts';
import type { Kubectl } from './kubectl.ts';
import { prepareCluster, RELEASE, type PreparedCluster } from './release.ts';
import { createNamespace } from './test-namespace.ts';
import { openOlderCheckout } from './upgrade/older-checkout.ts';
import { startOutsideStores, type OutsideStores } from './upgrade/outside-stores.ts';
import type { Load } from './upgrade/load.ts';
import { startSlowProvider, startTraffic, type TrafficReport } from './upgrade/traffic.ts';

const START_TIMEOUT_MS = 1_200_000;
const TEST_TIMEOUT_MS = 600_000;
const STEP_TIMEOUT_MS = 240_000;
const PER_SECOND = 200;
/** Requests that are in flight when a gateway stops have 5 s. */
const MAX_DELAY_MS = 4_000;
const LONG_STREAMS = 4;
/** Requests before the first change, and between two of them. */
const ENOUGH = 1_000;
const NAMESPACE = `vitrine-upgrade-${Date.now()}`;
const GATEWAY = `deployment/${RELEASE}-gateway`;

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
}

await describeWithCluster('requests during an upgrade', () => {
  const opened = new AsyncDisposableStack();
  const program = helmPrograms().at(-1) ?? '';
  let prepared: PreparedCluster;
  let kubectl: Kubectl;
  let stores: OutsideStores;
  let upstream: string;
  let traffic: Load<TrafficReport>;
  let report: TrafficReport;

  const values = (images: ServiceImages, podAnnotations: object) => {
    const { gateway, traceWriter, ...rest } = baseValues(images, '');
    const config = { providers: { openai: { upstream }, anthropic: { upstream } } };
    const own = {
      ...rest,
      // What all pods of an upgrade request together has to fit on a node with two cores.
      gateway: { ...gateway, config, podAnnotations, resources: { requests: { cpu: '100m' } } },
      traceWriter: { ...traceWriter, replicas: 1 },
      // They are not on the way of a request, and two cores are few.
      storeApi: { enabled: false },
      enrichScanQueue: { enabled: false },
    };
    return withOutsideStores(own, stores.brokers);
  };
  /** Lets requests pass between two changes. */
  const untilSent = (more: number) => traffic.untilSent(more, STEP_TIMEOUT_MS);

  beforeAll(async () => {
    prepared = opened.use(await prepareCluster(`${NAMESPACE}-outside`));
    const { cluster, outside } = prepared;
    const older = opened.use(await openOlderCheckout());
    const olderImages = await provideImages(cluster, older.path, ['gateway', 'trace-writer', 'operator', 'migrations']);
    process.stderr.write(`upgrade from ${older.commit}\n`);
    stores = await startOutsideStores(program, outside, STORES_SECRET);
    upstream = await startSlowProvider(outside);
    const tenant = { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'main' };
    ({ kubectl } = opened.use(await createNamespace(cluster, NAMESPACE, tenant)));
    await kubectl.apply(stores.secret);
    opened.defer(async () => void (await new Helm(program, kubectl).run(['uninstall', RELEASE, '--ignore-not-found', '--wait'])));
    const chart = join(older.path, 'charts/vitrine');
    await new Helm(program, kubectl).install({ name: RELEASE, chart, values: values(olderImages, {}) });
    const token = await createGatewayKey(kubectl, 'load', { role: 'developer' });
    const target = `http://${RELEASE}-gateway.${NAMESPACE}.svc:8080`;
    const load = { target, perSecond: PER_SECOND, maxDelayMs: MAX_DELAY_MS, longStreams: LONG_STREAMS };
    traffic = await startTraffic(outside, { ...load, token });
    await untilSent(ENOUGH);
  }, START_TIMEOUT_MS);
  afterAll(() => opened.disposeAsync(), START_TIMEOUT_MS);

  test(
    'chart and images are upgraded from the version before',
    async () => {
      const chart = join(ROOT, 'charts/vitrine');
      // The annotation makes new pods, also where the images are the same.
      const next = values(prepared.images, { 'vitrine.dev/upgraded': 'yes' });
      await new Helm(program, kubectl).upgrade({ name: RELEASE, chart, values: next });
      await untilSent(ENOUGH);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'gateways are rescheduled one by one',
    async () => {
      // One that is ending yet is not to be deleted again.
      const pods = (await kubectl.list<Pod>('pods', '--selector=app.kubernetes.io/component=gateway')).filter(
        ({ metadata }) => metadata.deletionTimestamp === undefined,
      );
      expect(pods).toHaveLength(2);
      for (const { metadata } of pods) {
        await kubectl.run(['delete', 'pod', metadata.name, '--timeout=120s'], { timeoutMs: STEP_TIMEOUT_MS });
        await kubectl.rollout(GATEWAY, STEP_TIMEOUT_MS);
      }
      await untilSent(ENOUGH);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'the key is rotated',
    async () => {
      await traffic.useToken(await rotateGatewayKey(kubectl, 'load'));
      await untilSent(ENOUGH);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'no request failed meanwhile',
    async () => {
      report = await traffic.stop();
      process.stderr.write(`${JSON.stringify(report)}\n`);
      expect({ byReason: report.failed.byReason, first: report.failed.first }).toEqual({ byReason: {}, first: [] });
      expect(report.completed).toBe(report.sent);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'every request is traced, also the streams that a stopping gateway had to end',
    async () => {
      expect(report.endedStreams).toHaveLength(LONG_STREAMS);
      const failed = new Set(report.failed.first.map(({ id }) => id));
      const sent = Array.from({ length: report.sent }, (_, number) => `load-${number}`);
      const expected = sent.filter((id) => !failed.has(id));
      for (let number = 0; number < LONG_STREAMS; number += 1) expected.push(`long-${number}`);
      const missing = async () => {
        const traced = new Set(await stores.query("SELECT model FROM traces WHERE model ~ '^(load|long)-'"));
        return expected.filter((model) => !traced.has(model));
      };
      await kubectl.until('all traces', STEP_TIMEOUT_MS, async () => (await missing()).length === 0).catch(() => undefined);
      expect((await missing()).slice(0, 20)).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});
