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
import { modelsOf, untracedModels } from './traced-models.ts';
import { openOlderCheckout } from './upgrade/older-checkout.ts';
import { startOutsideStores, type OutsideStores } from './upgrade/outside-stores.ts';
import type { Load } from './upgrade/load.ts';
import { startSlowProvider, startTraffic, type TrafficReport } from './upgrade/traffic.ts';

const START_TIMEOUT_MS = 1_200_000;
const TEST_TIMEOUT_MS = 600_000;
const STEP_TIMEOUT_MS = 240_000;
/** On kept connections. Together with requests on new connections, it is the rate that two slow cores sustain while all pods restart. */
const PER_SECOND = 50;
/** On new connections, which the Service routes to any ready pod. */
const NEW_PER_SECOND = 50;
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
  let newConnections: Load<TrafficReport>;
  let report: TrafficReport;
  let newReport: TrafficReport;

  const values = (images: ServiceImages, podAnnotations: object) => {
    const { gateway, traceWriter, ...rest } = baseValues(images, '');
    const config = { providers: { openai: { upstream }, anthropic: { upstream } } };
    const own = {
      ...rest,
      // The total requests of all pods of an upgrade must fit on a node with two cores.
      gateway: { ...gateway, config, podAnnotations, resources: { requests: { cpu: '150m' } } },
      traceWriter: { ...traceWriter, replicas: 1 },
      // They do not handle requests, and two cores are few.
      storeApi: { enabled: false },
      enrichScanQueue: { enabled: false },
    };
    return withOutsideStores(own, stores.brokers);
  };
  /** Waits for requests between two changes. */
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
    const short = { name: 'new', target, token, perSecond: NEW_PER_SECOND, maxDelayMs: MAX_DELAY_MS, hasNewConnections: true };
    newConnections = await startTraffic(outside, short);
    await untilSent(ENOUGH);
  }, START_TIMEOUT_MS);
  afterAll(() => opened.disposeAsync(), START_TIMEOUT_MS);

  test(
    'chart and images are upgraded from the version before',
    async () => {
      const chart = join(ROOT, 'charts/vitrine');
      // The annotation creates new pods even if the images are the same.
      const next = values(prepared.images, { 'vitrine.dev/upgraded': 'yes' });
      await new Helm(program, kubectl).upgrade({ name: RELEASE, chart, values: next });
      await untilSent(ENOUGH);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'gateways are rescheduled one by one',
    async () => {
      // A terminating one must not be deleted again.
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
      const token = await rotateGatewayKey(kubectl, 'load');
      await Promise.all([traffic.useToken(token), newConnections.useToken(token)]);
      await untilSent(ENOUGH);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'no request failed meanwhile',
    async () => {
      [report, newReport] = await Promise.all([traffic.stop(), newConnections.stop()]);
      process.stderr.write(`${JSON.stringify({ report, newReport })}\n`);
      for (const { failed, completed, sent } of [report, newReport]) {
        expect({ byReason: failed.byReason, first: failed.first }).toEqual({ byReason: {}, first: [] });
        expect(completed).toBe(sent);
      }
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'every request is traced, also the streams that a stopping gateway had to end',
    async () => {
      expect(report.endedStreams).toHaveLength(LONG_STREAMS);
      const failed = new Set([report, newReport].flatMap(({ failed: { first } }) => first.map(({ id }) => id)));
      const requests = [...modelsOf('load', report.sent), ...modelsOf('new', newReport.sent)];
      const expected = [...requests.filter((id) => !failed.has(id)), ...modelsOf('long', LONG_STREAMS)];
      expect(await untracedModels(kubectl, stores, expected, STEP_TIMEOUT_MS)).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});
