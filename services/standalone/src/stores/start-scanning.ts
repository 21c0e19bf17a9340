import type { Secret } from '@vitrine/config/secret';
import { startScanner } from '@vitrine/enrich-scan-queue/app';
import type { ScanConfig } from '@vitrine/enrich-scan-queue/config';
import { NO_LIMITS } from '@vitrine/enrich-scan-queue/politeness/host-rate-limiter';
import { createScanSteps } from '@vitrine/enrich-scan-queue/run-scan';
import type { Logger } from '@vitrine/telemetry/logger';
import type { Storefronts } from '@vitrine/testkit/storefronts/start-storefronts';
import { startDemo } from '../demo/start-demo.ts';

interface ScanningOptions {
  readonly config: ScanConfig;
  /** For the demonstration. */
  readonly demo: { readonly storefronts: Storefronts; readonly print: (text: string) => void } | undefined;
  readonly dsn: Secret;
  readonly createLogger: (service: string, level: string) => Logger;
}

/** Starts the scanner and its demonstration. Faults: `address_unusable`. */
export async function startScanning({ config, demo, dsn, createLogger }: ScanningOptions): Promise<AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const logger = createLogger('svc-enrich-scan-queue', config.log.level);
  const steps = createScanSteps(config, Date.now);
  const own = demo?.storefronts.loopbackHosts ?? {};
  // Storefronts of this machine need no rate limit. All others have it, also in the demonstration.
  const scanStorefront: typeof steps.scanStorefront = (domain, context) =>
    steps.scanStorefront(domain, Object.hasOwn(own, domain) ? { ...context, gate: NO_LIMITS } : context);
  opened.use(await startScanner(config, logger, { ...steps, scanStorefront }));
  if (demo !== undefined) opened.use(startDemo({ ...demo, dsn, logger }));
  return opened.move();
}
