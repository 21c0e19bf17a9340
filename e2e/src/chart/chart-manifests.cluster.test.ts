import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHART_CASES } from './chart-cases.ts';
import { describeWithPrograms, runProgram } from '../programs.ts';
import { kindSchemas } from './kind-schemas.ts';
import { HELMS, renderChart, type Manifest } from './render-chart.ts';

// Against the API server of KUBECONFIG. It needs no pods.

const TEST_TIMEOUT_MS = 120_000;
const NAMESPACE = `chart-dry-run-${Date.now()}`;
/** Kinds of other operators, which may be missing in the cluster. */
const FOREIGN = /^(?:monitoring\.coreos\.com|keda\.sh)\//;

const kubectl = (args: readonly string[], input?: string) => runProgram('kubectl', args, input);
/** The namespaces in values need not exist. */
const inNamespace = (manifests: readonly Manifest[]) =>
  manifests
    .filter(({ apiVersion }) => !FOREIGN.test(apiVersion))
    .map((manifest) =>
      manifest.metadata.namespace === undefined
        ? manifest
        : {
            ...manifest,
            metadata: {
              ...manifest.metadata,
              name: `${manifest.metadata.namespace}-${manifest.metadata.name}`,
              namespace: NAMESPACE,
            },
          },
    );
const list = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

const clusterError = process.env['KUBECONFIG'] === undefined ? 'no cluster: set KUBECONFIG' : undefined;
const apiServerTests = () => {
  beforeAll(() => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'restricted' };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } };
    expect(kubectl(['create', '-f', '-'], JSON.stringify(namespace))).toMatchObject({ status: 0 });
  });
  afterAll(() => void kubectl(['delete', 'namespace', NAMESPACE, '--wait=false']));

  test.each(HELMS)(
    'accepts everything that %s renders without a warning',
    (helm) => {
      for (const [name, values] of Object.entries(CHART_CASES)) {
        const input = list(inNamespace(renderChart({ helm, values })));
        const { status, stderr } = kubectl(['apply', '--dry-run=server', '--validate=strict', '-n', NAMESPACE, '-f', '-'], input);
        expect([name, status, stderr]).toEqual([name, 0, '']);
      }
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'has schemas by which kubeconform finds no unknown field, and finds one that is misspelt',
    async () => {
      await using folder = await temporaryFolder('kind-schemas');
      const manifests = Object.values(CHART_CASES)
        .flatMap((values) => renderChart({ helm: 'helm4', values }))
        .filter(({ apiVersion, kind }) => !FOREIGN.test(apiVersion) && kind !== 'CustomResourceDefinition');
      const kinds = new Set(manifests.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
      const openApi = JSON.parse(kubectl(['get', '--raw', '/openapi/v2']).stdout) as Parameters<typeof kindSchemas>[0];
      for (const [file, schema] of kindSchemas(openApi, kinds)) writeFileSync(join(folder.path, file), JSON.stringify(schema));
      const location = `${folder.path}/{{.ResourceKind}}{{.KindSuffix}}.json`;
      const check = (items: readonly object[]) =>
        runProgram('kubeconform', ['-strict', '-summary', '-schema-location', location, '-'], list(items));
      expect(check(manifests)).toMatchObject({ status: 0, stdout: expect.stringMatching(/Invalid: 0, Errors: 0, Skipped: 0/) });
      const [first] = manifests.filter(({ kind }) => kind === 'Deployment');
      expect(check([{ ...first, spec: { ...(first?.spec as object), replica: 1 } }])).toMatchObject({
        status: 1,
        stdout: expect.stringContaining("'replica' not allowed"),
      });
    },
    TEST_TIMEOUT_MS,
  );
};

describeWithPrograms([...HELMS, 'kubectl', 'kubeconform'], 'the API server', apiServerTests, clusterError);
