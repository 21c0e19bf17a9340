import type { Kubectl } from '@vitrine/e2e/cluster/kubectl';
import { runCommand } from '@vitrine/e2e/cluster/run-command';
import { npmScript } from '@vitrine/testkit/npm-script';

/** One command of kubectl sends 50 requests a second. */
const BATCH = 500;
const BATCH_TIMEOUT_MS = 300_000;
const DELETE_TIMEOUT_MS = 600_000;
const CRDS = ['gatewaykeys.vitrine.dev', 'planlimits.vitrine.dev'];

interface ListedKey {
  readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A namespace of a tenant, with the definitions. Disposal removes both, including finalizers that no operator removes. */
export interface BenchNamespace extends AsyncDisposable {
  readonly kubectl: Kubectl;
  /** `NAME-0` to `NAME-(count - 1)`. */
  createKeys(name: string, count: number): Promise<void>;
  readyKeys(): Promise<number>;
}

export async function openBenchNamespace(kubectl: Kubectl): Promise<BenchNamespace> {
  const present = await kubectl.run(['get', 'crd', ...CRDS, '--ignore-not-found', '--output=name']);
  if (present.trim() !== '') throw new Error('the cluster of KUBECONFIG has Vitrine: its keys could be changed');
  const [node, ...args] = npmScript('operator');
  const definitions = await runCommand(node, [...args, 'crds']);
  const metadata = { name: kubectl.namespace, labels: { 'vitrine.dev/org': 'bench', 'vitrine.dev/workspace': 'bench' } };
  await kubectl.run(['apply', '--server-side', '--filename=-'], { input: definitions });
  await kubectl.run(['wait', '--for=condition=Established', ...CRDS.map((name) => `crd/${name}`), '--timeout=60s'], {
    timeoutMs: BATCH_TIMEOUT_MS,
  });
  await create(kubectl, [{ apiVersion: 'v1', kind: 'Namespace', metadata }]);
  return {
    kubectl,
    async createKeys(name, count) {
      const keys = Array.from({ length: count }, (_, at) => ({
        apiVersion: 'vitrine.dev/v1alpha1',
        kind: 'GatewayKey',
        metadata: { name: `${name}-${at}`, namespace: kubectl.namespace },
        spec: { role: 'developer' },
      }));
      for (let at = 0; at < keys.length; at += BATCH) await create(kubectl, keys.slice(at, at + BATCH));
    },
    async readyKeys() {
      const keys = await listKeys(kubectl);
      return keys.filter(isReady).length;
    },
    async [Symbol.asyncDispose]() {
      const kept = (await listKeys(kubectl)).filter(({ metadata }) => (metadata.finalizers ?? []).length > 0);
      const freed = kept.map((key) => ({ ...key, metadata: { ...key.metadata, finalizers: [] } }));
      for (let at = 0; at < freed.length; at += BATCH) await change(kubectl, 'replace', freed.slice(at, at + BATCH));
      const timeout = { timeoutMs: DELETE_TIMEOUT_MS };
      await kubectl.run(['delete', 'namespace', kubectl.namespace, '--timeout=590s'], timeout);
      await kubectl.run(['delete', 'crd', ...CRDS, '--timeout=590s'], timeout);
    },
  };
}

const isReady = ({ status }: ListedKey) =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
const create = (kubectl: Kubectl, items: readonly object[]) => change(kubectl, 'create', items);

async function change(kubectl: Kubectl, verb: 'create' | 'replace', items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await kubectl.run([verb, '--filename=-', '--output=name'], { input, timeoutMs: BATCH_TIMEOUT_MS });
}

async function listKeys(kubectl: Kubectl): Promise<readonly ListedKey[]> {
  const text = await kubectl.run(['get', 'gatewaykeys', '--output=json'], { timeoutMs: BATCH_TIMEOUT_MS });
  return (JSON.parse(text) as { readonly items: readonly ListedKey[] }).items;
}
