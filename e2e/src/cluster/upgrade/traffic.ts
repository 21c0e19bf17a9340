import type { Kubectl } from '../kubectl.ts';
import { sourcePod, startLoad, type Load, type LoadReport } from './load.ts';

const READY_TIMEOUT_MS = 120_000;
const PROVIDER = 'slow-provider';
const PROVIDER_PORT = 8083;

export interface TrafficReport extends LoadReport {
  readonly seconds: number;
  readonly completed: number;
  readonly skipped: number;
  readonly longInFlight: number;
  /** Time that gateway, network and processes add to that of the provider. */
  readonly addedMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly failed: {
    readonly count: number;
    readonly byReason: Readonly<Record<string, number>>;
    readonly first: readonly { readonly id: string; readonly reason: string }[];
  };
  readonly endedStreams: readonly string[];
}

export interface TrafficOptions {
  /** Of its pod, and what the models of its requests begin with. */
  readonly name?: string;
  /** A connection for each request. */
  readonly hasNewConnections?: boolean;
  readonly target: string;
  readonly token: string;
  readonly perSecond: number;
  /** Of the provider. */
  readonly maxDelayMs: number;
  readonly longStreams?: number;
}

/** Starts the slow provider; resolves with its address. */
export async function startSlowProvider(kubectl: Kubectl): Promise<string> {
  const labels = { app: PROVIDER };
  const { configMap, pod } = await sourcePod({ name: PROVIDER, source: new URL('./slow-provider-process.ts', import.meta.url) });
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

export async function startTraffic(kubectl: Kubectl, options: TrafficOptions): Promise<Load<TrafficReport>> {
  const { name = 'load', hasNewConnections = false, target, token, perSecond, maxDelayMs, longStreams = 0 } = options;
  const env = {
    TARGET: target,
    PER_SECOND: String(perSecond),
    MAX_DELAY_MS: String(maxDelayMs),
    LONG_STREAMS: String(longStreams),
    PREFIX: name,
    NEW_CONNECTIONS: String(hasNewConnections),
  };
  const source = new URL('./traffic-process.ts', import.meta.url);
  return startLoad<TrafficReport>(kubectl, { name, source, env, token });
}
