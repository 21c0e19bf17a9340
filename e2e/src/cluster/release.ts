import { holdImages, provideImages, provideTestImages, type ServiceImages } from './cluster-images.ts';
import { refuseUsedCluster, removeDefinitions, takeInventory } from './cluster-inventory.ts';
import { Kubectl } from './kubectl.ts';
import { startProvider } from './provider.ts';
import { openCluster, type TestCluster } from './test-cluster.ts';
import { createNamespace } from './test-namespace.ts';

export const RELEASE = 'vitrine';

/** A cluster with the images of this checkout and a mock provider in a namespace of its own. */
export interface PreparedCluster extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly images: ServiceImages;
  /** Namespace of objects outside the chart: the provider, and stores. */
  readonly outside: Kubectl;
}

/** Disposal removes everything, and fails if cluster-scoped objects are left. `namespaces`: others that must not exist. */
export async function prepareCluster(outsideName: string, ...namespaces: readonly string[]): Promise<PreparedCluster> {
  await using opened = new AsyncDisposableStack();
  const cluster = opened.use(await openCluster());
  const anywhere = new Kubectl(cluster.kubeconfig, 'default');
  const before = await takeInventory(anywhere);
  refuseUsedCluster(before, namespaces);
  opened.defer(async () => {
    const left = await removeDefinitions(anywhere, before);
    if (left.length > 0) throw new Error(`the tests have left ${left.join(', ')}`);
  });
  const { kubectl: outside } = opened.use(await createNamespace(cluster, outsideName));
  // At once: building the others takes minutes, and a node that is short of disk removes images that nothing runs.
  await provideTestImages(cluster, outside);
  const images = await provideImages(cluster);
  await holdImages(outside, 'images', Object.values(images));
  await startProvider(outside);
  const running = opened.move();
  return { cluster, images, outside, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
