import { codeOf, Fault } from '@vitrine/faults/fault';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import { openEmbeddedTraceStore, sqliteWriter } from '@vitrine/trace-store-sqlite/embedded-trace-store';
import type { OwnedTraceStore } from '@vitrine/traces/trace-store';
import type { GatewayConfig } from './config.ts';
import { hasDailyLimits } from './limits/open-limits.ts';
import { isOldTraceFile, oldTraceFileText } from './old-gateway/old-trace-file.ts';
import { readPriceOverride } from './capture/price-override.ts';

export interface OpenTraceStore {
  readonly store: OwnedTraceStore;
  /** The thread that makes records of exchanges and writes them to the store, which closes it. It serves the key store too. */
  readonly thread: DerivationThread;
}

/** Opens the store that traces go to. Faults: those of `openEmbeddedTraceStore`, and `invalid_price_override`. */
export async function openTraceStore(config: GatewayConfig, privacy: PrivacyRules): Promise<OpenTraceStore> {
  const { storage, tracing, prices, observability } = config;
  const thread = new DerivationThread({
    policy: { captureBodies: tracing.capture_bodies, bodyMaxSize: tracing.body_max_size, privacy },
    priceOverride: readPriceOverride(prices.override_path),
    reportsTokens: observability.otel.genai,
    reportsUsage: hasDailyLimits(config),
    writer: sqliteWriter(storage.path),
  });
  const store = await openEmbeddedTraceStore(storage.path, thread).catch((cause: unknown) => {
    if (codeOf(cause) !== 'storage_unusable' || !isOldTraceFile(storage.path)) throw cause;
    throw new Fault('storage_unusable', { say: oldTraceFileText(storage.path), cause });
  });
  return { store, thread };
}
