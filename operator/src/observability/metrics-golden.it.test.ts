import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { noCounts } from '@vitrine/postgres/pool-figures';
import { createLogger } from '@vitrine/telemetry/logger';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { readOperatorConfig } from '../config.ts';
import { Controller } from '../runtime/controller.ts';
import { KubernetesClient } from '../runtime/kubernetes-client.ts';
import { startFakeApiServer } from '../testing/fake-api-server.ts';
import { OperatorTelemetry } from './operator-telemetry.ts';

const GOLDEN = new URL('../../../deploy/observability/metrics/operator.txt', import.meta.url);
const OWN = /^(?:svc|controller_runtime|workqueue|leader_election|rest_client)_/;
const POOL = { ...noCounts(), connections: 1, idleConnections: 1, maxConnections: 1, waiting: 0 };

test('deploy/observability lists the metrics and labels of an operator; npm run golden rewrites them', async () => {
  const { observability } = readOperatorConfig(undefined, {
    OPERATOR_STORAGE_DSN: 'postgresql://operator@db/vitrine',
    OPERATOR_NAMESPACE: 'vitrine',
    OPERATOR_AUTH_PEPPER_PATH: '/pepper',
  });
  await using fake = await startFakeApiServer();
  await using server = new KubernetesClient(fake.config, 'test');
  using telemetry = await OperatorTelemetry.start(observability.otel, createLogger('test', 'silent', { write: () => true }));
  await using controller = new Controller({ name: 'gatewaykey', observer: telemetry, reconcile: async () => ({}) });
  const watch = controller.watch(server, 'gatewaykeys', { path: '/apis/vitrine.dev/v1alpha1/gatewaykeys', onChange: () => {} });
  controller.start();
  await watch.start();
  telemetry.controllerStarted('gatewaykey');
  telemetry.reconciled('gatewaykey', 'error', 1);
  telemetry.requestSent('GET', 200);
  const { onStart, onDone } = telemetry.queue('gatewaykey');
  onStart(1);
  onDone(1);
  telemetry.observe(() => ({
    leaseName: 'vitrine-operator',
    isLeading: true,
    controllers: [controller.figures],
    pools: { operator: POOL },
  }));
  const { body = '' } = (await telemetry.scrape?.(undefined)) ?? {};
  const labels = new Map<string, Set<string>>();
  for (const { name, labels: of } of parseScrape(body, 'classic').flatMap(({ samples }) => samples)) {
    if (OWN.test(name)) labels.set(name, new Set([...(labels.get(name) ?? []), ...Object.keys(of)]));
  }
  const lines = [...labels].map(([name, of]) => [name, ...[...of].toSorted()].join(' '));
  const text = `${lines.toSorted().join('\n')}\n`;
  expect(text).toBe(goldenText(GOLDEN, text));
});
