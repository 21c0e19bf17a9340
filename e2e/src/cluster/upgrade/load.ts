import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { IMAGES } from '../../images.ts';
import type { Kubectl } from '../kubectl.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD, sourceVolume } from '../restricted-pod.ts';

const READY_TIMEOUT_MS = 120_000;

interface Source {
  /** Of the pod. */
  readonly name: string;
  readonly source: URL;
  readonly env?: Readonly<Record<string, string>>;
  readonly isWaiting?: boolean;
}

/** Requests from a pod, whose source prints a report as a line of JSON every few seconds. */
export interface Load<Report> {
  /** The last report, which is at most some seconds old. */
  report(): Promise<Report>;
  useToken(token: string): Promise<void>;
  /** Starts no further request. Resolves with the last report when all have ended. */
  stop(): Promise<Report>;
  /** Resolves when so many more requests have been sent. */
  untilSent(more: number, withinMs: number): Promise<void>;
}

/** The common fields of reports. */
export interface LoadReport {
  readonly isEnd: boolean;
  readonly sent: number;
}

export interface LoadOptions extends Source {
  /** The file /tmp/token of the pod; the source ends when there is a file /tmp/stop. */
  readonly token: string;
}

export async function startLoad<Report extends LoadReport>(
  kubectl: Kubectl,
  { token, ...source }: LoadOptions,
): Promise<Load<Report>> {
  const { name } = source;
  const { configMap, pod } = await sourcePod({ ...source, isWaiting: true });
  await kubectl.apply(configMap, pod);
  await kubectl.wait('condition=Ready', [`pod/${name}`], READY_TIMEOUT_MS);
  const write = async (file: string, text: string) => {
    const script = `cat > /tmp/${file}.new && mv /tmp/${file}.new /tmp/${file}`;
    await kubectl.exec(`pod/${name}`, ['sh', '-c', script], { input: text });
  };
  const report = async () => JSON.parse(await kubectl.run(['logs', name, '--tail=1'])) as Report;
  await write('token', token);
  const isReporting = async () => (await kubectl.run(['logs', name, '--tail=1'])).endsWith('}\n');
  await kubectl.until('the first report', READY_TIMEOUT_MS, isReporting);
  return {
    report,
    useToken: (next) => write('token', next),
    async stop() {
      await write('stop', '');
      return await kubectl.until('the end of the traffic', READY_TIMEOUT_MS, async () => {
        const last = await report();
        return last.isEnd && last;
      });
    },
    async untilSent(more, withinMs) {
      const { sent } = await report();
      await kubectl.until(`${more} requests`, withinMs, async () => (await report()).sent >= sent + more);
    },
  };
}

/** A pod that runs a source of this folder; it may wait for its token. */
export async function sourcePod({ name, source, env = {}, isWaiting = false }: Source) {
  const file = basename(source.pathname);
  const text = await readFile(source, 'utf8');
  const { configMap, volume } = sourceVolume(name, [{ path: file, text }]);
  const waiting = isWaiting ? 'until [ -e /tmp/token ]; do sleep 0.2; done; ' : '';
  const container = {
    name,
    image: IMAGES.node,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', `${waiting}exec node /sources/${file}`],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    volumeMounts: [{ name: volume.name, mountPath: '/sources' }],
    // Without a CPU request, starting pods would take the CPU from it.
    resources: { requests: { cpu: '150m' } },
    securityContext: RESTRICTED_CONTAINER,
  };
  const spec = { securityContext: RESTRICTED_POD, terminationGracePeriodSeconds: 1, restartPolicy: 'Never' };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { ...spec, containers: [container], volumes: [volume] },
  };
  return { configMap, pod };
}
