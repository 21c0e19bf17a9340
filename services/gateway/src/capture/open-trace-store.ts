import { codeOf, Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { parsePriceOverride, type PriceOverride } from '@vitrine/traces/price-catalogue';
import type { PrivacyRules } from '@vitrine/traces/privacy/privacy-rules';
import { openEmbeddedTraceStore, type EmbeddedTraceStore } from '@vitrine/traces/sqlite/embedded-trace-store';
import { readFileSync } from 'node:fs';
import type { GatewayConfig } from '../config.ts';
import { hasDailyLimits } from '../limits/open-limits.ts';
import { isOldTraceFile, oldTraceFileText } from '../old-gateway/old-trace-file.ts';

/** Opens the store that traces go to. Faults: those of `openEmbeddedTraceStore`, and `invalid_price_override`. */
export async function openTraceStore(config: GatewayConfig, privacy: PrivacyRules): Promise<EmbeddedTraceStore> {
  const { storage, tracing, prices, observability } = config;
  const opening = openEmbeddedTraceStore({
    path: storage.path,
    policy: { captureBodies: tracing.capture_bodies, bodyMaxSize: tracing.body_max_size, privacy },
    priceOverride: readPriceOverride(prices.override_path),
    tellsTokens: observability.otel.genai,
    tellsUsage: hasDailyLimits(config),
  });
  return opening.catch((cause: unknown) => {
    if (codeOf(cause) !== 'storage_unusable' || !isOldTraceFile(storage.path)) throw cause;
    throw new Fault('storage_unusable', { say: oldTraceFileText(storage.path), cause });
  });
}

function readPriceOverride(path: string | undefined): PriceOverride | undefined {
  if (path === undefined) return undefined;
  try {
    return parsePriceOverride(readFileSync(path, 'utf8'));
  } catch (cause) {
    const reason = isFault(cause) ? cause.say : messageOf(cause);
    throw new Fault('invalid_price_override', {
      say: `prices.override_path (SVC_PRICES_OVERRIDE_PATH): ${path}: ${reason}`,
      cause,
    });
  }
}
