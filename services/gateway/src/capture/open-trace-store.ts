import { codeOf, Fault } from '@vitrine/faults/fault';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { openEmbeddedTraceStore, type EmbeddedTraceStore } from '@vitrine/trace-store-sqlite/embedded-trace-store';
import type { GatewayConfig } from '../config.ts';
import { hasDailyLimits } from '../limits/open-limits.ts';
import { isOldTraceFile, oldTraceFileText } from '../old-gateway/old-trace-file.ts';
import { readPriceOverride } from './price-override.ts';

/** Opens the store that traces go to. Faults: those of `openEmbeddedTraceStore`, and `invalid_price_override`. */
export async function openTraceStore(config: GatewayConfig, privacy: PrivacyRules): Promise<EmbeddedTraceStore> {
  const { storage, tracing, prices, observability } = config;
  const opening = openEmbeddedTraceStore({
    path: storage.path,
    policy: { captureBodies: tracing.capture_bodies, bodyMaxSize: tracing.body_max_size, privacy },
    priceOverride: readPriceOverride(prices.override_path),
    reportsTokens: observability.otel.genai,
    reportsUsage: hasDailyLimits(config),
  });
  return opening.catch((cause: unknown) => {
    if (codeOf(cause) !== 'storage_unusable' || !isOldTraceFile(storage.path)) throw cause;
    throw new Fault('storage_unusable', { say: oldTraceFileText(storage.path), cause });
  });
}
