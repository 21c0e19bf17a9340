import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ROOT } from '../running-process.ts';
import { baseValues, STORES_SECRET, withOutsideStores } from './chart-values.ts';
import { describeWithCluster } from './describe-with-cluster.ts';
import { createGatewayKey } from './gateway-key-api.ts';
import { Helm, helmPrograms } from './helm.ts';
import type { Kubectl } from './kubectl.ts';
import { takeServerAway } from './outage.ts';
import { prepareCluster, RELEASE } from './release.ts';
import { createNamespace } from './test-namespace.ts';
import { modelsOf, untracedModels } from './traced-models.ts';
import type { Load } from './upgrade/load.ts';
import { startOutsideStores, STORES, type OutsideStores } from './upgrade/outside-stores.ts';
import { startSlowProvider, startTraffic, type TrafficReport } from './upgrade/traffic.ts';

const START_TIMEOUT_MS = 1_200_000;
const TEST_TIMEOUT_MS = 600_000;
const STEP_TIMEOUT_MS = 120_000;
/** Duration of each outage. */
const AWAY_SECONDS = Number(process.env['VITRINE_AWAY_SECONDS'] ?? 6);
/** Time from the end of the outage until a new key is ready. */
const READY_MS = 30_000;
const PER_SECOND = 50;
const LIMITED_PER_SECOND = 10;
const MAX_DELAY_MS = 300;
/** Requests after each outage. */
const ENOUGH = 200;
const NAMESPACE = `vitrine-chaos-${Date.now()}`;
const GATEWAY = `deployment/${RELEASE}-gateway`;
const OPERATOR = `deployment/${RELEASE}-operator`;
const TOPIC = 'vitrine.traces';

const PLAN = { rpm: 60, concurrency: 5, freshnessDays: 30, historyDays: 90, enrichBatchMax: 50, liveRefreshesPerPeriod: 100 };
const LIMITED_PLAN = {
  apiVersion: 'vitrine.dev/v1alpha1',
  kind: 'PlanLimits',
  metadata: { name: 'growth' },
  spec: { ...PLAN, gateway: { per_key: { requests_per_minute: 1_000_000 } } },
};

await describeWithCluster('requests on new connections while parts of a release are away', () => {
  const opened = new AsyncDisposableStack();
  const program = helmPrograms().at(-1) ?? '';
  let kubectl: Kubectl;
  let outside: Kubectl;
  let stores: OutsideStores;
  let load: Load<TrafficReport>;
  let limited: Load<TrafficReport>;
  let report: TrafficReport;

  beforeAll(async () => {
    const prepared = opened.use(await prepareCluster(`${NAMESPACE}-outside`));
    ({ outside } = prepared);
    stores = await startOutsideStores(program, outside, STORES_SECRET);
    const upstream = await startSlowProvider(outside);
    const tenant = { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'main' };
    ({ kubectl } = opened.use(await createNamespace(prepared.cluster, NAMESPACE, tenant)));
    await kubectl.apply(stores.secret);
    opened.defer(async () => void (await new Helm(program, kubectl).run(['uninstall', RELEASE, '--ignore-not-found', '--wait'])));
    const { gateway, traceWriter, ...rest } = baseValues(prepared.images, '');
    const config = { providers: { openai: { upstream }, anthropic: { upstream } } };
    const values = {
      ...rest,
      gateway: { ...gateway, config, resources: { requests: { cpu: '100m' } } },
      traceWriter: { ...traceWriter, replicas: 1 },
      // They do not handle requests, and two cores are few.
      storeApi: { enabled: false },
      enrichScanQueue: { enabled: false },
    };
    const chart = join(ROOT, 'charts/vitrine');
    await new Helm(program, kubectl).install({ name: RELEASE, chart, values: withOutsideStores(values, stores.brokers) });
    await kubectl.apply(LIMITED_PLAN);
    await kubectl.wait('condition=Ready', ['planlimits/growth'], READY_MS);
    const token = await createGatewayKey(kubectl, 'free', { role: 'developer' });
    const limitedToken = await createGatewayKey(kubectl, 'limited', { role: 'developer', plan: 'growth' });
    const target = `http://${RELEASE}-gateway.${NAMESPACE}.svc:8080`;
    const shared = { target, maxDelayMs: MAX_DELAY_MS, hasNewConnections: true };
    load = await startTraffic(outside, { ...shared, name: 'free', token, perSecond: PER_SECOND });
    limited = await startTraffic(outside, { ...shared, name: 'limited', token: limitedToken, perSecond: LIMITED_PER_SECOND });
    await load.untilSent(ENOUGH, STEP_TIMEOUT_MS);
  }, START_TIMEOUT_MS);
  afterAll(() => opened.disposeAsync(), START_TIMEOUT_MS);

  /** Keys are ready, and a new one becomes ready. */
  const untilSettled = async (name: string) => {
    await createGatewayKey(kubectl, `after-${name}`, { role: 'viewer' });
    await kubectl.wait('condition=Ready', ['gatewaykey', '--all'], READY_MS);
    await load.untilSent(ENOUGH, STEP_TIMEOUT_MS);
  };

  const outages: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'gateway',
      async () => {
        const pods = await kubectl.list('pods', '--selector=app.kubernetes.io/component=gateway');
        expect(pods).toHaveLength(2);
        await kubectl.run(['delete', 'pod', pods[0]?.metadata.name ?? '', '--timeout=120s'], { timeoutMs: STEP_TIMEOUT_MS });
        await kubectl.rollout(GATEWAY, STEP_TIMEOUT_MS);
      },
    ],
    ['kafka', () => takeServerAway(outside, STORES.kafka, AWAY_SECONDS)],
    [
      'operator',
      async () => {
        await kubectl.run(['scale', OPERATOR, '--replicas=0']);
        await wait(AWAY_SECONDS * 1_000);
        await kubectl.run(['scale', OPERATOR, '--replicas=1']);
        await kubectl.rollout(OPERATOR, STEP_TIMEOUT_MS);
      },
    ],
    ['postgres', () => takeServerAway(outside, STORES.postgres, AWAY_SECONDS)],
  ];
  test.each(outages)(
    `%s is away, for ${AWAY_SECONDS} s or as long as its pod takes, and keys are ready soon after`,
    async (name, takeAway) => {
      await kubectl.explain(takeAway());
      await untilSettled(name);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'no request without limits failed, and one with limits only where they could not be checked',
    async () => {
      report = await load.stop();
      const limitedReport = await limited.stop();
      process.stderr.write(`${JSON.stringify({ report, limitedReport })}\n`);
      expect({ byReason: report.failed.byReason, first: report.failed.first }).toEqual({ byReason: {}, first: [] });
      expect(report.completed).toBe(report.sent);
      const others = Object.keys(limitedReport.failed.byReason).filter(
        (reason) => !/^status 503: .*gateway usage limit check unavailable/.test(reason),
      );
      expect(others).toEqual([]);
      expect(limitedReport.completed + limitedReport.failed.count).toBe(limitedReport.sent);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'every request is traced',
    async () => {
      expect(await untracedModels(kubectl, stores, modelsOf('free', report.sent), STEP_TIMEOUT_MS)).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  /** With the client of a service, because an image of Kafka may lack its scripts. */
  const deleteTopic = async () => {
    const client = `new (require('kafkajs').Kafka)({ brokers: ['${stores.brokers}'] }).admin()`;
    const script = `const admin = ${client}; admin.connect().then(() => admin.deleteTopics({ topics: ['${TOPIC}'] })).then(() => admin.disconnect())`;
    await kubectl.exec(`deployment/${RELEASE}-trace-writer`, ['node', '--eval', script]);
  };
  const losses: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['their topic was deleted', deleteTopic],
    ['the broker has lost its disk', () => outside.run(['delete', 'pod', `--selector=app.kubernetes.io/component=dev-kafka`])],
  ];
  test.each(losses)(
    'traces flow again without anybody’s help after %s',
    async (what, lose) => {
      await lose();
      const name = `again-${losses.findIndex(([known]) => known === what)}`;
      const token = await kubectl.secretValue('free-gateway-key', 'token');
      const target = `http://${RELEASE}-gateway.${NAMESPACE}.svc:8080`;
      const again = await startTraffic(outside, { name, target, token, perSecond: 10, maxDelayMs: MAX_DELAY_MS });
      await again.untilSent(50, STEP_TIMEOUT_MS);
      const { sent } = await again.stop();
      expect(await untracedModels(kubectl, stores, modelsOf(name, sent), STEP_TIMEOUT_MS)).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});
