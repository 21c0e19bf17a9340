import { Kubectl } from './kubectl.ts';
import type { TestCluster } from './test-cluster.ts';

const DELETE_TIMEOUT_MS = 120_000;

/** A namespace that admits only restricted pods. Disposal deletes it and waits until it is gone. */
export interface TestNamespace extends AsyncDisposable {
  readonly kubectl: Kubectl;
}

export async function createNamespace(
  cluster: TestCluster,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<TestNamespace> {
  const kubectl = new Kubectl(cluster.kubeconfig, name);
  const admission = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const metadata = { name, labels: { ...admission, ...labels } };
  // Created and not applied: an existing namespace is not ours to delete.
  await kubectl.run(['create', '--filename', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata }) });
  return { kubectl, [Symbol.asyncDispose]: () => deleteNamespace(kubectl) };
}

/** A test that failed may have left custom resources whose operator is gone: their finalizers would keep the namespace forever. */
export async function deleteNamespace(kubectl: Kubectl): Promise<void> {
  await deleteWorkloads(kubectl).catch(() => {}); // What does not end is in the error of the wait below.
  await kubectl.run(['delete', 'namespace', kubectl.namespace, '--wait=false', '--ignore-not-found']);
  const kinds = (await kubectl.run(['api-resources', '--api-group=vitrine.dev', '--output=name'])).split('\n').filter(Boolean);
  for (const kind of kinds) {
    for (const name of (await kubectl.run(['get', kind, '--output=name'])).split('\n').filter(Boolean))
      await kubectl.run(['patch', name, '--type=merge', '--patch', '{"metadata":{"finalizers":null}}']);
  }
  const timeout = `--timeout=${DELETE_TIMEOUT_MS / 1_000}s`;
  await kubectl.run(['wait', '--for=delete', `namespace/${kubectl.namespace}`, timeout], {
    timeoutMs: DELETE_TIMEOUT_MS + 10_000,
  });
}

/** The controller of namespaces checks again after half of the longest grace period of its pods, even if they end earlier. */
async function deleteWorkloads(kubectl: Kubectl): Promise<void> {
  const timeout = `--timeout=${DELETE_TIMEOUT_MS / 1_000}s`;
  await kubectl.run(['delete', 'deployments,jobs,pods', '--all', '--cascade=foreground', timeout], {
    timeoutMs: DELETE_TIMEOUT_MS + 10_000,
  });
}
