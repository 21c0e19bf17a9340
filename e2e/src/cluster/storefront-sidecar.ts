import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IMAGES } from '../images.ts';
import { ROOT } from '../running-process.ts';
import type { Kubectl } from './kubectl.ts';
import { RESTRICTED_CONTAINER, sourceVolume } from './restricted-pod.ts';

export const STOREFRONT_PORT = 8090;
const NAME = 'storefront';
const ROLLOUT_TIMEOUT_MS = 180_000;

/** Adds a container to a deployment: a fixture storefront of testkit, which needs nothing but Node, on the loopback interface of each pod. */
export async function startStorefrontBeside(kubectl: Kubectl, deployment: string, host: string): Promise<void> {
  const folder = join(ROOT, 'packages/testkit/src/storefronts');
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts') && !name.includes('test.ts'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const { configMap, volume } = sourceVolume(
    NAME,
    names.map((path, at) => ({ path, text: texts[at] ?? '' })),
  );
  await kubectl.apply(configMap);
  const container = {
    name: NAME,
    image: IMAGES.node,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '--input-type=module', '--eval', scriptOf(host)],
    volumeMounts: [{ name: volume.name, mountPath: '/storefronts' }],
    securityContext: RESTRICTED_CONTAINER,
  };
  const patch = { spec: { template: { spec: { containers: [container], volumes: [volume] } } } };
  await kubectl.run(['patch', deployment, '--type=strategic', '--patch', JSON.stringify(patch)]);
  await kubectl.rollout(deployment, ROLLOUT_TIMEOUT_MS);
}

/** Its servers choose their ports themselves. */
function scriptOf(host: string): string {
  const shop = { host, platform: 'shopify', products: 12, technologies: ['klaviyo'] };
  // The first process of a container ignores SIGTERM unless it handles it, and its pod would last for its whole grace period.
  return `
    process.once('SIGTERM', () => process.exit());
    import { connect, createServer } from 'node:net';
    const file = '/storefronts/start-storefronts.ts';
    const { startStorefronts } = await import(file);
    const { httpPort } = await startStorefronts([${JSON.stringify(shop)}]);
    const pass = (socket) => {
      const other = connect(httpPort, '127.0.0.1');
      socket.pipe(other).pipe(socket);
      socket.on('error', () => other.destroy());
      other.on('error', () => socket.destroy());
    };
    createServer(pass).listen(${STOREFRONT_PORT}, '127.0.0.1');`;
}
