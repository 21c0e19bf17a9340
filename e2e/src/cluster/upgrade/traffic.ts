import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { IMAGES } from '../../images.ts';
import type { Kubectl } from '../kubectl.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD, sourceVolume } from '../restricted-pod.ts';

const READY_TIMEOUT_MS = 120_000;
const PROVIDER = 'slow-provider';
const PROVIDER_PORT = 8083;
const TRAFFIC = 'traffic';

export interface TrafficReport {
  readonly isEnd: boolean;
  readonly seconds: number;
  readonly sent: number;
  readonly completed: number;
  readonly skipped: number;
  readonly longInFlight: number;
  /** What gateway, network and processes add to the time that the provider takes. */
  readonly addedMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly failed: {
    readonly count: number;
    readonly byReason: Readonly<Record<string, number>>;
    readonly first: readonly { readonly id: string; readonly reason: string }[];
  };
  readonly endedStreams: readonly string[];
}

/** Requests to a gateway from a pod. */
export interface Traffic {
  /** The last report, which is at most some seconds old. */
  report(): Promise<TrafficReport>;
  useToken(token: string): Promise<void>;
  /** No request is begun after this; resolves with the last report when all have ended. */
  stop(): Promise<TrafficReport>;
}

export interface TrafficOptions {
  readonly target: string;
  readonly token: string;
  readonly perSecond: number;
  /** Of the provider. */
  readonly maxDelayMs: number;
  readonly longStreams: number;
}

/** Starts the provider that takes its time; resolves with its address. */
export async function startSlowProvider(kubectl: Kubectl): Promise<string> {
  const labels = { app: PROVIDER };
  const { configMap, pod } = await sourcePod(PROVIDER, new URL('./slow-provider-process.ts', import.meta.url), {});
  await kubectl.apply(
    configMap,
    { ...pod, metadata: { name: PROVIDER, labels } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: PROVIDER },
      spec: { selector: labels, ports: [{ port: PROVIDER_PORT }] },
    },
  );
  await kubectl.wait('condition=Ready', [`pod/${PROVIDER}`], READY_TIMEOUT_MS);
  return `http://${PROVIDER}.${kubectl.namespace}.svc:${PROVIDER_PORT}`;
}

export async function startTraffic(kubectl: Kubectl, options: TrafficOptions): Promise<Traffic> {
  const { target, token, perSecond, maxDelayMs, longStreams } = options;
  const { configMap, pod } = await sourcePod(TRAFFIC, new URL('./traffic-process.ts', import.meta.url), {
    TARGET: target,
    PER_SECOND: String(perSecond),
    MAX_DELAY_MS: String(maxDelayMs),
    LONG_STREAMS: String(longStreams),
  });
  await kubectl.apply(configMap, pod);
  await kubectl.wait('condition=Ready', [`pod/${TRAFFIC}`], READY_TIMEOUT_MS);
  const write = (file: string, text: string) =>
    kubectl.exec(`pod/${TRAFFIC}`, ['sh', '-c', `cat > /tmp/${file}.new && mv /tmp/${file}.new /tmp/${file}`], { input: text });
  const report = async () => JSON.parse(await kubectl.run(['logs', TRAFFIC, '--tail=1'])) as TrafficReport;
  await write('token', token);
  const isReporting = async () => (await kubectl.run(['logs', TRAFFIC, '--tail=1'])).endsWith('}\n');
  await kubectl.until('the first report', READY_TIMEOUT_MS, isReporting);
  return {
    report,
    useToken: async (next) => void (await write('token', next)),
    async stop() {
      await write('stop', '');
      return await kubectl.until('the end of the traffic', READY_TIMEOUT_MS, async () => {
        const last = await report();
        return last.isEnd && last;
      });
    },
  };
}

/** A pod that runs a source of this folder; it waits for its token where it needs one. */
async function sourcePod(name: string, source: URL, env: Readonly<Record<string, string>>) {
  const file = basename(source.pathname);
  const text = await readFile(source, 'utf8');
  const { configMap, volume } = sourceVolume(name, [{ path: file, text }]);
  const isWaiting = name === TRAFFIC ? 'until [ -e /tmp/token ]; do sleep 0.2; done; ' : '';
  const container = {
    name,
    image: IMAGES.node,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', `${isWaiting}exec node /sources/${file}`],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    volumeMounts: [{ name: volume.name, mountPath: '/sources' }],
    // Without a request, pods that start take the processor from it.
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
