import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Secret } from '@vitrine/config/secret';
import type { Logger } from '@vitrine/telemetry/logger';
import { startStorefronts, type Storefronts } from '@vitrine/testkit/storefronts/start-storefronts';
import { DEMO_SHOPS, UNSCANNED_SHOP } from './demo-shops.ts';
import { tellDemoStory, type StorySignal } from './demo-story.ts';

const MAX_CONNECTIONS = 2;

/** Starts the fixture storefronts on this machine. */
export function startDemoStorefronts(): Promise<Storefronts> {
  const shops = DEMO_SHOPS.map(({ storefront, looks: [first] }) => ({ ...storefront, ...first }));
  return startStorefronts([...shops, UNSCANNED_SHOP]);
}

/** The scanner's settings for these storefronts. */
export function demoScanSettings({ loopbackHosts, ca }: Storefronts) {
  const places = Object.entries(loopbackHosts).map(
    ([name, { address, http_port, https_port }]) => `${name}=${address}:${http_port}:${https_port}`,
  );
  return {
    environment: 'development',
    fetch: { loopback_hosts: places, loopback_ca: ca },
    // The story queues its scans itself.
    rescan: { enabled: false },
    jobs: { retry_ms: 1_000 },
  };
}

interface DemoOptions {
  /** Connects in the role of the scanner. */
  readonly dsn: Secret;
  readonly storefronts: Storefronts;
  readonly print: (text: string) => void;
  readonly logger: Logger;
}

/** Changes the storefronts and prints a line for each signal until disposed. */
export function startDemo({ dsn, storefronts, print, logger }: DemoOptions): AsyncDisposable {
  const pool = new PostgresPool({ dsn, applicationName: 'vitrine-demo', maxConnections: MAX_CONNECTIONS });
  const stopping = new AbortController();
  const onSignal = (signal: StorySignal) => print(`   ${new Date().toTimeString().slice(0, 8)}  ${signalText(signal)}\n`);
  const told = tellDemoStory({ pool, storefronts, onSignal, logger, signal: stopping.signal });
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await told;
      await pool[Symbol.asyncDispose]();
    },
  };
}

function signalText({ domain, type, technology, from, to }: StorySignal): string {
  const what = technology ?? (to === null ? '' : `${from} -> ${to}`);
  return `${domain}  ${type} ${what}`.trimEnd();
}
