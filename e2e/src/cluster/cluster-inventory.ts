import type { Kubectl } from './kubectl.ts';

const KINDS = `namespaces,customresourcedefinitions,clusterroles,clusterrolebindings,persistentvolumes,priorityclasses,
  validatingadmissionpolicies,validatingadmissionpolicybindings,validatingwebhookconfigurations`.replaceAll(/\s/g, '');
/** Definitions are kept when a release is uninstalled. */
const OWN_DEFINITIONS = /^customresourcedefinition\.apiextensions\.k8s\.io\/\w+\.vitrine\.dev$/;
export type Inventory = ReadonlySet<string>;

/** Names of all cluster-scoped objects that a release could leave behind. */
export async function takeInventory(kubectl: Kubectl): Promise<Inventory> {
  const names = await kubectl.run(['get', KINDS, '--output=name']);
  return new Set(names.split('\n').filter(Boolean));
}

/** Tests would change or delete the keys of an installation that is there. */
export function refuseUsedCluster(inventory: Inventory, namespaces: readonly string[] = []): void {
  const found = [...inventory].filter(
    (name) => OWN_DEFINITIONS.test(name) || namespaces.includes(name.replace('namespace/', '')),
  );
  if (found.length === 0) return;
  throw new Error(
    `the cluster of KUBECONFIG has ${found.join(', ')}: tests run on a cluster without Vitrine. If an interrupted run left` +
      ' them, delete them with kubectl',
  );
}

/** Deletes the definitions that a release has kept; resolves with the names of all other new objects. */
export async function removeDefinitions(kubectl: Kubectl, before: Inventory): Promise<readonly string[]> {
  const added = async () => [...(await takeInventory(kubectl))].filter((name) => !before.has(name));
  const definitions = (await added()).filter((name) => OWN_DEFINITIONS.test(name));
  if (definitions.length > 0) await kubectl.run(['delete', ...definitions, '--timeout=60s'], { timeoutMs: 70_000 });
  return added();
}
