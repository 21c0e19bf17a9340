import type { ScanCapture, ScanAttempt, RequestTarget } from '../../scan/scan-ports.ts';
import { FETCH_LIMITS, userAgentOf, type FetchLimits, type FetchSettings } from '../fetch-settings.ts';
import { dialTcp } from '../network/connect-pinned.ts';
import { createScanStorefront } from '../scan-storefront.ts';

export interface FixtureScan {
  readonly result: ScanCapture | ScanAttempt;
  /** Hosts in the order of requests. */
  readonly turns: readonly RequestTarget[];
  readonly slowdowns: readonly (readonly [host: string, cause: string, ms: number])[];
}

export interface FixtureScanOptions extends Partial<Omit<FetchSettings, 'limits'>> {
  readonly limits?: Partial<FetchLimits>;
  readonly signal?: AbortSignal;
  /** From this request on, counted from 1, the gate postpones the scan. */
  readonly delayedFrom?: number;
  /** Called before the n-th request, from 1. The scan waits for a returned promise. */
  readonly onTurn?: (turn: number) => unknown;
}

/** Scans a domain with a gate that records the hosts and allows all. Names that are not in `loopbackHosts` have no address by default. */
export async function scanFixture(domain: string, options: FixtureScanOptions): Promise<FixtureScan> {
  const { limits, signal = new AbortController().signal, delayedFrom = Infinity, onTurn, ...settings } = options;
  const turns: RequestTarget[] = [];
  const slowdowns: [string, string, number][] = [];
  const scan = createScanStorefront({
    settings: {
      userAgent: userAgentOf('test', 'https://example.com/scanner'),
      resolve: async () => [],
      loopbackHosts: {},
      ca: undefined,
      dial: dialTcp,
      ...settings,
      limits: { ...FETCH_LIMITS, ...PATIENT, ...limits },
    },
    now: Date.now,
  });
  const gate = {
    waitTurn: async (target: RequestTarget, ending: AbortSignal) => {
      turns.push(target);
      await Promise.race([onTurn?.(turns.length), aborted(ending)]);
      ending.throwIfAborted();
      return turns.length >= delayedFrom ? { delayedMs: 1_000 } : undefined;
    },
    slowDown: async ({ host }: RequestTarget, cause: 'crawl_delay' | 'retry_after', ms: number) =>
      void slowdowns.push([host, cause, ms]),
  };
  return { result: await scan(domain, { gate, signal }), turns, slowdowns };
}

/** Allows for pauses of the machine. No test normally waits this long. */
const PATIENT = {
  connectTimeoutMs: 60_000,
  headersTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  requestTimeoutMs: 120_000,
  scanTimeoutMs: 200_000,
};

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
