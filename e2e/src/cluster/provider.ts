import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IMAGES } from '../images.ts';
import { ROOT } from '../running-process.ts';
import type { Kubectl } from './kubectl.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD, sourceVolume } from './restricted-pod.ts';

const READY_TIMEOUT_MS = 60_000;
const PORTS = { openai: 8081, anthropic: 8082 };
const NAME = 'provider';
/** Between the chunks of a stream. */
const CHUNK_DELAY_MS = 100;
const SCRIPT = `
  const mocks = [['openai', 'startMockOpenai', ${PORTS.openai}], ['anthropic', 'startMockAnthropic', ${PORTS.anthropic}]];
  for (const [name, start, port] of mocks) {
    const file = '/testkit/mock-' + name + '.ts';
    await (await import(file))[start]({ host: '0.0.0.0', port, chunkDelayMs: ${CHUNK_DELAY_MS} });
  }`;

/** Where pods of any namespace reach the mock providers of `namespace`. */
export function providerUrls(namespace: string): Readonly<Record<'openai' | 'anthropic', string>> {
  const host = `http://${NAME}.${namespace}.svc`;
  return { openai: `${host}:${PORTS.openai}`, anthropic: `${host}:${PORTS.anthropic}` };
}

/** Runs the mock providers of testkit, which need nothing but Node, in one pod of the namespace. */
export async function startProvider(kubectl: Kubectl): Promise<void> {
  const folder = join(ROOT, 'packages/testkit/src');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts') && !name.includes('test'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const { configMap, volume } = sourceVolume(
    'testkit',
    names.map((path, at) => ({ path, text: texts[at] ?? '' })),
  );
  const container = {
    name: NAME,
    image: IMAGES.node,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '--input-type=module', '--eval', SCRIPT],
    readinessProbe: { tcpSocket: { port: PORTS.anthropic }, periodSeconds: 1 },
    volumeMounts: [{ name: volume.name, mountPath: '/testkit' }],
    securityContext: RESTRICTED_CONTAINER,
  };
  const labels = { app: NAME };
  await kubectl.apply(
    configMap,
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: NAME },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { securityContext: RESTRICTED_POD, terminationGracePeriodSeconds: 1, containers: [container], volumes: [volume] },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: NAME },
      spec: { selector: labels, ports: Object.entries(PORTS).map(([name, port]) => ({ name, port })) },
    },
  );
  await kubectl.rollout(`deployment/${NAME}`, READY_TIMEOUT_MS);
}
