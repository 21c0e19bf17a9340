import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildImage } from '../environment.ts';
import { IMAGES } from '../images.ts';
import { ROOT } from '../running-process.ts';
import { Kubectl } from './kubectl.ts';
import { runCommand } from './run-command.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD } from './restricted-pod.ts';
import type { TestCluster } from './test-cluster.ts';

const HOLD_TIMEOUT_MS = 120_000;

/** Targets of deploy/Dockerfile that the chart runs. */
export const TARGETS = ['gateway', 'trace-writer', 'store-api', 'enrich-scan-queue', 'operator', 'migrations'] as const;
export type Target = (typeof TARGETS)[number];

export const TEST_IMAGES: readonly string[] = [IMAGES.node, IMAGES.postgres, IMAGES.kafka];

/** Names of images that are in the cluster, with their tags. */
export type ServiceImages = Readonly<Partial<Record<Target, string>>>;

interface Node {
  readonly status: { readonly images?: readonly { readonly names: readonly string[] }[] };
}

/** Builds the images of a checkout and loads them into the cluster. A tag is the id of its image, so that a node cannot run an older one. */
export async function provideImages(
  cluster: TestCluster,
  checkout = ROOT,
  targets: readonly Target[] = TARGETS,
): Promise<ServiceImages> {
  const images: Partial<Record<Target, string>> = {};
  const dockerfile = await readFile(join(checkout, 'deploy/Dockerfile'), 'utf8');
  for (const target of targets) {
    // An older checkout may not have all of them.
    if (!dockerfile.includes(` AS ${target}\n`)) continue;
    const id = await buildImage(target, checkout);
    const name = `vitrine/${target}:${id.slice(0, 12)}`;
    await runCommand('docker', ['tag', id, name]);
    images[target] = name;
  }
  await loadMissing(cluster, Object.values(images));
  return images;
}

/** Loads test images into the cluster if the engine has them; others are pulled. A pod of the namespace keeps them. */
export async function provideTestImages(cluster: TestCluster, kubectl: Kubectl): Promise<void> {
  const present: string[] = [];
  for (const name of TEST_IMAGES) {
    const isPresent = await runCommand('docker', ['image', 'inspect', name]).then(
      () => true,
      () => false,
    );
    if (isPresent) present.push(name);
  }
  await loadMissing(cluster, present);
  // A node's list of images is up to minutes old.
  await holdImages(kubectl, 'test-images', TEST_IMAGES).catch(async (error: unknown) => {
    if (present.length === 0) throw error;
    await cluster.load(present);
    await kubectl.wait('condition=Ready', ['pod/test-images'], HOLD_TIMEOUT_MS);
  });
}

/** The user that the database runs as in its image: it must exist in the image, and images differ. */
export async function postgresUser(): Promise<number> {
  const user = await runCommand('docker', ['run', '--rm', '--entrypoint', 'id', IMAGES.postgres, '-u', 'postgres']);
  return Number(user.trim());
}

/** Runs a container of each image in the namespace until it is deleted: a node that is short of disk removes images that nothing runs. */
export async function holdImages(kubectl: Kubectl, name: string, images: readonly string[]): Promise<void> {
  const containers = images.map((image, at) => ({
    name: `image-${at}`,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['sleep', 'infinity'],
    securityContext: RESTRICTED_CONTAINER,
  }));
  const spec = { securityContext: RESTRICTED_POD, terminationGracePeriodSeconds: 0, containers };
  await kubectl.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  await kubectl.wait('condition=Ready', [`pod/${name}`], HOLD_TIMEOUT_MS);
}

/** Copying an image takes seconds, also when it is there. A node lists 50 of its images. */
async function loadMissing(cluster: TestCluster, names: readonly string[]): Promise<void> {
  const nodes = await new Kubectl(cluster.kubeconfig, 'default').list<Node>('nodes');
  const isEverywhere = (name: string) =>
    nodes.every(({ status: { images = [] } }) => images.some((image) => image.names.includes(`docker.io/${name}`)));
  const missing = names.filter((name) => !isEverywhere(name));
  if (missing.length > 0) await cluster.load(missing);
}
