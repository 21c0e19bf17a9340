import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { IMAGES } from '../images.ts';
import { provideTestImages } from './cluster-images.ts';
import { describeWithCluster } from './describe-with-cluster.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD } from './restricted-pod.ts';
import { openCluster, type TestCluster } from './test-cluster.ts';
import { createNamespace, type TestNamespace } from './test-namespace.ts';

const START_TIMEOUT_MS = 600_000;
const TEST_TIMEOUT_MS = 120_000;
const WAIT_MS = 15_000;

await describeWithCluster('steps of cluster journeys that fail', () => {
  const opened = new AsyncDisposableStack();
  let cluster: TestCluster;
  let namespace: TestNamespace;
  beforeAll(async () => {
    cluster = opened.use(await openCluster());
    namespace = opened.use(await createNamespace(cluster, `vitrine-test-${Date.now()}`));
    await provideTestImages(cluster, namespace.kubectl);
  }, START_TIMEOUT_MS);
  afterAll(() => opened.disposeAsync(), START_TIMEOUT_MS);

  const pod = (name: string, script: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      securityContext: RESTRICTED_POD,
      containers: [
        {
          name: 'main',
          image: IMAGES.node,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '--eval', script],
          readinessProbe: { exec: { command: ['false'] }, periodSeconds: 1 },
          securityContext: RESTRICTED_CONTAINER,
        },
      ],
    },
  });

  test(
    'a pod that does not become ready is explained by its events and its log',
    async () => {
      await namespace.kubectl.apply(pod('broken', 'console.log("cannot reach the database"); setInterval(() => {}, 1e6)'));
      const waited = namespace.kubectl.wait('condition=Ready', ['pod/broken'], WAIT_MS);
      await expect(waited).rejects.toThrow(/Readiness probe failed[^]*log of broken:\ncannot reach the database/);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'the namespace of a run refuses pods that are not restricted',
    async () => {
      const { spec, ...rest } = pod('root', '');
      const applied = namespace.kubectl.apply({ ...rest, spec: { containers: spec.containers } });
      await expect(applied).rejects.toThrow(/violates PodSecurity "restricted/);
    },
    TEST_TIMEOUT_MS,
  );
});
