import type { Kubectl } from '../kubectl.ts';
import { startLoad, type Load, type LoadReport } from './load.ts';

/** The results of clients of the store API. */
export interface StoreTrafficReport extends LoadReport {
  readonly seconds: number;
  readonly completed: number;
  /** Batches, without those that were repeated. */
  readonly enriched: number;
  /** Repeated batches; nothing is billed for them. */
  readonly replayed: number;
  /** Units that responses say were billed, lookups included. */
  readonly told: Readonly<Record<'lookup_cached' | 'lookup_live', number>>;
  readonly tookMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly failed: {
    readonly count: number;
    readonly byReason: Readonly<Record<string, number>>;
    readonly first: readonly { readonly second: number; readonly reason: string }[];
  };
}

export interface StoreTrafficOptions {
  /** Of the Service. */
  readonly target: string;
  /** One for each of several clients. */
  readonly keys: readonly string[];
  readonly clients: number;
  readonly stores: readonly string[];
  /** Domains that are no stores, of which scans are requested. */
  readonly unknown: readonly string[];
}

/** Looks stores up and enriches batches from a pod, with kept connections. */
export function startStoreTraffic(kubectl: Kubectl, options: StoreTrafficOptions): Promise<Load<StoreTrafficReport>> {
  const { target, keys, clients, stores, unknown } = options;
  const env = { TARGET: target, CLIENTS: String(clients), STORES: stores.join(','), UNKNOWN: unknown.join(',') };
  const source = new URL('./store-traffic-process.ts', import.meta.url);
  return startLoad(kubectl, { name: 'store-traffic', source, env, token: keys.join('\n') });
}
