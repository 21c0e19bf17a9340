import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CHART_CASES } from '../chart/chart-cases.ts';
import { NAMESPACE, renderChart } from '../chart/render-chart.ts';
import { describeWithCluster } from './describe-with-cluster.ts';
import type { Kubectl } from './kubectl.ts';
import { openCluster } from './test-cluster.ts';
import { createNamespace } from './test-namespace.ts';

const START_TIMEOUT_MS = 300_000;
const TEST_TIMEOUT_MS = 120_000;
/** Namespaces in the cases, in which Roles are created. */
const LISTED = ['team-a', 'team-b'];
/** Kinds of other operators, which may be missing in a cluster. */
const FOREIGN = /^(?:keda\.sh|monitoring\.coreos\.com)\//;

await describeWithCluster('the API server accepts what the chart renders', () => {
  const opened = new AsyncDisposableStack();
  let kubectl: Kubectl;
  beforeAll(async () => {
    const cluster = opened.use(await openCluster());
    for (const name of LISTED) opened.use(await createNamespace(cluster, name));
    ({ kubectl } = opened.use(await createNamespace(cluster, NAMESPACE)));
  }, START_TIMEOUT_MS);
  afterAll(() => opened.disposeAsync(), START_TIMEOUT_MS);

  // Both Helms render the same: the tests of the chart compare them.
  test.each(Object.entries(CHART_CASES))(
    '%s',
    async (_name, values) => {
      const own = renderChart({ helm: 'helm4', values }).filter(({ apiVersion }) => !FOREIGN.test(apiVersion));
      expect(own.length).toBeGreaterThan(0);
      // With --namespace, kubectl refuses objects of another one.
      const byNamespace = Map.groupBy(own, ({ metadata }) => metadata.namespace ?? NAMESPACE);
      for (const [namespace, items] of byNamespace) {
        const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
        const args = ['apply', '--server-side', '--dry-run=server', '--filename=-'];
        const applied = await kubectl.in(namespace).run(args, { input, timeoutMs: TEST_TIMEOUT_MS });
        expect(applied.match(/serverside-applied \(server dry run\)/g)).toHaveLength(items.length);
      }
    },
    TEST_TIMEOUT_MS,
  );
});
