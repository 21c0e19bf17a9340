import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { ROOT } from '../running-process.ts';
import { baseValues, STORES_SECRET, withOutsideStores } from './chart-values.ts';
import { removeDefinitions, takeInventory } from './cluster-inventory.ts';
import { describeWithCluster } from './describe-with-cluster.ts';
import { createGatewayKey, rotateGatewayKey, type GatewayKeyObject } from './gateway-key-api.ts';
import { openGateway } from './gateway-session.ts';
import { Helm, helmPrograms, type Release } from './helm.ts';
import type { Kubectl, KubernetesObject } from './kubectl.ts';
import { prepareCluster, RELEASE, type PreparedCluster } from './release.ts';
import { createNamespace } from './test-namespace.ts';
import { startOutsideStores } from './upgrade/outside-stores.ts';

const START_TIMEOUT_MS = 1_200_000;
const TEST_TIMEOUT_MS = 400_000;
const READY_MS = 60_000;
const NAMESPACE = `vitrine-install-${Date.now()}`;
const TENANT = { 'vitrine.dev/org': 'acme', 'vitrine.dev/workspace': 'main' };
const DEPLOYMENTS = ['gateway', 'trace-writer', 'store-api', 'enrich-scan-queue', 'operator', 'topics'];
const DEFINITIONS = ['gatewaykeys.vitrine.dev', 'planlimits.vitrine.dev'];
/** Objects that remain of a release, other than its keys. */
const KEPT_SECRETS = [`${RELEASE}-graphql-token`, `${RELEASE}-pepper`, 'kept-gateway-key', 'left-gateway-key'];

interface Deployment extends KubernetesObject {
  readonly spec: { readonly replicas: number };
  readonly status: { readonly readyReplicas?: number };
}
interface SecretObject extends KubernetesObject {
  readonly data: Readonly<Record<string, string>>;
}

await describeWithCluster('a release and its keys', () => {
  const opened = new AsyncDisposableStack();
  let prepared: PreparedCluster;
  beforeAll(async () => {
    prepared = opened.use(await prepareCluster(`${NAMESPACE}-outside`));
  }, START_TIMEOUT_MS);
  afterAll(() => opened.disposeAsync(), START_TIMEOUT_MS);

  // Each on a cluster without definitions and on a database without tables.
  describe.each(helmPrograms())('with %s', (program) => {
    const ours = new AsyncDisposableStack();
    let kubectl: Kubectl;
    let helm: Helm;
    let release: Release;
    /** The parts of a credential before the release was uninstalled. */
    let before: Readonly<Record<string, unknown>>;
    let [token, leftToken] = ['', ''];

    beforeAll(async () => {
      const { cluster, outside, images } = prepared;
      const everywhere = outside.in('default');
      const inventory = await takeInventory(everywhere);
      ours.defer(async () => void (await removeDefinitions(everywhere, inventory)));
      const others = ours.use(await createNamespace(cluster, `${NAMESPACE}-${program}-stores`));
      const stores = await startOutsideStores(program, others.kubectl, STORES_SECRET);
      ({ kubectl } = ours.use(await createNamespace(cluster, `${NAMESPACE}-${program}`, TENANT)));
      await kubectl.apply(stores.secret);
      helm = new Helm(program, kubectl);
      ours.defer(async () => void (await helm.run(['uninstall', RELEASE, '--ignore-not-found', '--wait'])));
      const values = withOutsideStores(baseValues(images, outside.namespace), stores.brokers);
      release = { name: RELEASE, chart: join(ROOT, 'charts/vitrine'), values };
    }, START_TIMEOUT_MS);
    afterAll(() => ours.disposeAsync(), START_TIMEOUT_MS);

    const credentials = async () => {
      const { metadata, status } = await kubectl.get<GatewayKeyObject>('gatewaykey', 'kept');
      const secrets = (await kubectl.list<SecretObject>('secrets')).filter(({ metadata: { name } }) =>
        KEPT_SECRETS.includes(name),
      );
      return {
        uid: metadata.uid,
        keyId: status?.keyId,
        secrets: Object.fromEntries(secrets.map(({ metadata: { name, uid }, data }) => [name, { uid, data }])),
      };
    };

    test(
      `${program} install --wait of the whole chart succeeds at the first try on an empty cluster, and a key of kubectl answers`,
      async () => {
        await helm.install(release);
        const deployments = await kubectl.list<Deployment>('deployments');
        expect(deployments.map(({ metadata: { name } }) => name).toSorted()).toEqual(
          DEPLOYMENTS.map((name) => `${RELEASE}-${name}`).toSorted(),
        );
        expect(deployments.filter(({ spec, status }) => status.readyReplicas !== spec.replicas)).toEqual([]);
        token = await createGatewayKey(kubectl, 'kept', { role: 'developer', rotation: { gracePeriod: '2s' } });
        leftToken = await createGatewayKey(kubectl, 'left', { role: 'developer' });
        await using gateway = await openGateway(kubectl);
        for (const one of [token, leftToken]) await gateway.untilStatus(one, 200, READY_MS);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'uninstalling leaves keys, their Secrets, pepper, token and definitions; a key that is deleted then waits for an operator',
      async () => {
        before = await credentials();
        expect(Object.keys(before['secrets'] as object).toSorted()).toEqual(KEPT_SECRETS.toSorted());
        await helm.uninstall(RELEASE);
        expect(await kubectl.run(['get', 'deployments,services', '--output=name'])).toBe('');
        expect(await credentials()).toEqual(before);
        await kubectl.run(['get', 'customresourcedefinitions', ...DEFINITIONS]);
        await kubectl.run(['delete', 'gatewaykey/left', '--wait=false']);
        const { metadata } = await kubectl.get<GatewayKeyObject>('gatewaykey', 'left');
        expect(metadata).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ['vitrine.dev/gateway-key'] });
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'installed again, the same token of the same Secret answers with the same key id, what was deleted is revoked, and a rotation works',
      async () => {
        await helm.install(release);
        await using gateway = await openGateway(kubectl);
        await gateway.untilStatus(token, 200, READY_MS);
        await kubectl.wait('delete', ['gatewaykey/left', 'secret/left-gateway-key'], READY_MS);
        await gateway.untilStatus(leftToken, 401, READY_MS);
        const { ['left-gateway-key']: _left, ...secrets } = before['secrets'] as Record<string, object>;
        expect(await credentials()).toEqual({ ...before, secrets });
        const next = await rotateGatewayKey(kubectl, 'kept');
        await gateway.untilStatus(next, 200, READY_MS);
        await gateway.untilStatus(token, 401, READY_MS);
        expect((await credentials()).keyId).toBe(before['keyId']);
      },
      TEST_TIMEOUT_MS,
    );
  });
});
